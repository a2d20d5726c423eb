package workload

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"unicode/utf8"
)

const (
	maxLine    = 16 << 20 // bytes of a record
	maxContent = 1 << 30  // bytes of a file
	maxShown   = 10       // bad records that an error describes
)

// records takes a file apart, one record at a time: the lines of a file, or the
// elements of a JSON list where the file begins with one. It holds one record in
// memory, and notes those that are bad.
type records struct {
	name string
	skip bool // leave bad records out instead of refusing the file

	in    *io.LimitedReader
	read  *bufio.Reader
	hash  hash.Hash
	line  int // of the record; counted from 1
	bad   []error
	count int // bad ones
}

func newRecords(r io.Reader, name string, skip bool) *records {
	s := &records{name: name, skip: skip, in: &io.LimitedReader{R: r, N: maxContent + 1}, hash: sha256.New(), line: 1}
	s.read = bufio.NewReaderSize(io.TeeReader(s.in, s.hash), 64<<10)
	return s
}

// sum names the content of the file, as sha256sum does.
func (s *records) sum() string { return "sha256:" + hex.EncodeToString(s.hash.Sum(nil)) }

// each calls take for every record that is not empty, without space around it. The
// bytes are valid during the call. An error of take makes the record a bad one. What
// each returns names file and line, on one line for each problem.
func (s *records) each(take func(text []byte) error) error {
	if err := s.encoding(); err != nil {
		return s.at(err)
	}
	list, err := s.leading()
	switch {
	case err != nil:
	case list:
		err = s.elements(take)
	default:
		err = s.lines(take)
	}
	switch {
	case s.in.N <= 0: // it stops there in the middle of a record
		return fmt.Errorf("%s: larger than %d MiB; keep a sample of its lines, such as shuf -n 10000 makes", s.name, maxContent>>20)
	case errors.Is(err, errTooLong):
		return s.at(err)
	case err != nil && !errors.Is(err, io.EOF):
		return s.at(err)
	case s.count > 0 && !s.skip:
		return s.refusal()
	}
	return nil
}

var errTooLong = fmt.Errorf("longer than %d MiB", maxLine>>20)

// at names the place of an error.
func (s *records) at(err error) error { return fmt.Errorf("%s: line %d: %w", s.name, s.line, err) }

// note counts a bad record.
func (s *records) note(err error) {
	if err == nil {
		return
	}
	s.count++
	if len(s.bad) < maxShown {
		s.bad = append(s.bad, s.at(err))
	}
}

// refusal is the error about bad records.
func (s *records) refusal() error {
	if more := s.count - len(s.bad); more > 0 {
		return errors.Join(append(s.bad, fmt.Errorf("%s: %d more bad lines; --skip-bad-lines leaves them out", s.name, more))...)
	}
	return errors.Join(s.bad...)
}

// encoding skips a byte order mark, and refuses what is no text: then every line
// would be bad.
func (s *records) encoding() error {
	head, _ := s.read.Peek(4)
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return errors.New("the file is in UTF-16; save it as UTF-8")
	case bytes.HasPrefix(head, []byte("\x1f\x8b")), bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		return errors.New("the file is compressed; unpack it first")
	case bytes.HasPrefix(head, []byte("\ufeff")):
		_, _ = s.read.Discard(len("\ufeff"))
	}
	return nil
}

// leading skips space, and says whether a list begins.
func (s *records) leading() (list bool, err error) {
	for {
		b, err := s.read.ReadByte()
		switch {
		case err != nil:
			return false, err
		case b == '[':
			return true, nil
		case !space(b):
			return false, s.read.UnreadByte()
		case b == '\n':
			s.line++
		}
	}
}

func space(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' }

// lines takes the rest of the file line by line.
func (s *records) lines(take func([]byte) error) error {
	var long []byte // a line that is longer than the reader's buffer
	for {
		text, err := s.read.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) || len(long) > 0 {
			long = append(long, text...)
			if len(bytes.TrimRight(long, "\r\n")) > maxLine {
				return errTooLong
			}
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			text = long
		}
		if err == nil || errors.Is(err, io.EOF) {
			if text = bytes.TrimSpace(text); len(text) > 0 {
				s.note(s.checked(text, take))
			}
		}
		if err != nil {
			return err
		}
		long = long[:0]
		s.line++
	}
}

// checked gives a record on.
func (s *records) checked(text []byte, take func([]byte) error) error {
	if !utf8.Valid(text) {
		return errors.New("not UTF-8; save the file as UTF-8")
	}
	return take(text)
}

// elements takes the elements of a list whose bracket was read. It cuts them at the
// commas outside of strings and brackets, wherever their lines end; whether they are
// JSON is for take to say.
func (s *records) elements(take func([]byte) error) error {
	var text []byte
	depth, quoted, escaped := 0, false, false
	begin, line := s.line, s.line // of the element, of the byte
	end := func() {
		s.line = begin
		if t := bytes.TrimSpace(text); len(t) > 0 {
			s.note(s.checked(t, take))
		}
		s.line, text = line, text[:0]
	}
	for {
		b, err := s.read.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			s.line = begin
			s.note(errors.New("the list is not closed; the file is cut off in or after the element that begins here"))
			return nil
		case err != nil:
			return err
		case len(text) == 0 && space(b):
		case quoted:
			quoted = escaped || b != '"'
			escaped = b == '\\' && !escaped
		case b == '"':
			quoted = true
		case b == '{' || b == '[':
			depth++
		case b == ']' && depth == 0:
			end()
			return s.after()
		case b == '}' || b == ']':
			depth--
		}
		if b == '\n' {
			line++
		}
		if b == ',' && depth == 0 && !quoted {
			end()
			continue
		}
		if len(text) == 0 {
			if space(b) {
				continue
			}
			begin = line
		}
		if text = append(text, b); len(text) > maxLine {
			s.line = begin
			return errTooLong
		}
	}
}

// after reads what follows a list, which must be nothing.
func (s *records) after() error {
	list, err := s.leading()
	if err != nil {
		return err
	}
	what := "something follows the list; write one list, or one object a line"
	if list {
		what = "a second list follows the first; join them (jq -s add)"
	}
	s.note(errors.New(what))
	return nil
}
