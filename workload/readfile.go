package workload

import (
	"fmt"
	"io"

	"kneesweep/load"
)

// ReadFile reads prompts: JSON objects, one a line or as the elements of a list,
// told apart by their fields. Name is that of the file. An error names it, the line,
// and what to change, for at most ten lines; with skipBad what is wrong is left out
// instead, and counted.
//
// A file may have 1 GiB. Its prompts are held once, as text, with about 250 bytes
// beside each, and one more record of at most 16 MiB while it is read.
func ReadFile(r io.Reader, name string, seed uint64, skipBad bool) (*File, error) {
	in := newRecords(r, name, skipBad)
	var prompts []load.Prompt
	recorded := 0
	err := in.each(func(text []byte) error {
		p, wasRecorded, err := parseRecord(text)
		if err != nil {
			return err
		}
		if wasRecorded {
			recorded++
		}
		prompts = append(prompts, p)
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(prompts) == 0 && in.count > 0:
		return nil, in.refusal()
	case len(prompts) == 0:
		return nil, fmt.Errorf("%s: no prompt in the file; %s", name, wanted)
	}
	f, err := newFile(name, seed, in.sum(), prompts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f.recorded, f.leftOut, f.bad = recorded, in.count, in.bad
	return f, nil
}
