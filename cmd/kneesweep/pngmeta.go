package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"

	"kneesweep/load"
)

// nameRun puts the id of a run, what measured it and its masked target into the
// metadata of a PNG, as text chunks behind its header (PNG specification, 11.3.3).
func nameRun(picture *bytes.Buffer, run load.Run) error {
	const header = 8 + 25 // signature, IHDR
	b := bytes.Clone(picture.Bytes())
	if len(b) < header || !bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")) {
		return errors.New("not a PNG")
	}
	picture.Reset()
	picture.Write(b[:header])
	for _, t := range []struct{ key, text string }{
		{"Software", run.Tool}, {"Source", run.Target}, {"kneesweep run", run.ID},
	} {
		if t.text != "" {
			writeTextChunk(picture, t.key, t.text)
		}
	}
	picture.Write(b[header:])
	return nil
}

// writeTextChunk writes an iTXt chunk: UTF-8, not compressed, of no language.
func writeTextChunk(w *bytes.Buffer, key, text string) {
	data := []byte("iTXt" + key + "\x00\x00\x00\x00\x00" + strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\x00", ""))
	w.Write(binary.BigEndian.AppendUint32(nil, uint32(len(data)-4)))
	w.Write(data)
	w.Write(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(data)))
}
