package journal

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/load"
)

// filler sets every field of a value to something that is not zero and differs
// from field to field.
type filler struct{ n int64 }

func (f *filler) fill(v reflect.Value) {
	f.n++
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, int(f.n), time.UTC)))
			return
		}
		for i := range v.NumField() {
			f.fill(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 3, 3))
		for i := range 3 {
			f.fill(v.Index(i))
		}
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d <&> \u2028\n\"", f.n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(float64(f.n) + 1/3.0)
	case reflect.Uint64:
		v.SetUint(1<<63 + uint64(f.n))
	case reflect.Int64, reflect.Int:
		v.SetInt(1<<40 + f.n)
	case reflect.Int32:
		v.SetInt(f.n)
	default:
		panic("a field of kind " + v.Kind().String())
	}
}

// filled returns one of each thing that a journal keeps, with no field zero.
func filled() (run load.Run, v load.Visit, s load.Sample, b load.Beat) {
	f := &filler{}
	for _, x := range []any{&run, &v, &s, &b} {
		f.fill(reflect.ValueOf(x).Elem())
	}
	s.ContentAt = 2
	for i := range v.Windows {
		v.Windows[i] = load.Span{From: time.Duration(i+1) * time.Second, To: time.Duration(i+2) * time.Second}
	}
	return run, v, s, b
}

// whole is a small journal that was finished.
func whole(t *testing.T) []byte {
	t.Helper()
	run, v, s, b := filled()
	var out bytes.Buffer
	w := NewWriter(&out, run)
	second := s
	second.Chunks, second.ContentAt = nil, 0
	w.Visit(&v)
	w.Sample(&s)
	w.Beat(&b)
	w.Sample(&second)
	if err := w.Close(load.StatusComplete, "all done"); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestEveryFieldComesBack(t *testing.T) {
	run, v, s, _ := filled()
	c, err := Read(bytes.NewReader(whole(t)))
	if err != nil {
		t.Fatal(err)
	}
	run.Status, run.StopReason = load.StatusComplete, "all done"
	if !reflect.DeepEqual(c.Run, run) {
		t.Errorf("run\n%+v\nwant\n%+v", c.Run, run)
	}
	if len(c.Visits) != 1 || !reflect.DeepEqual(c.Visits[0], v) {
		t.Errorf("visits\n%+v\nwant\n%+v", c.Visits, v)
	}
	if len(c.Samples) != 2 || !reflect.DeepEqual(c.Samples[0], s) || c.Samples[1].Chunks != nil || c.Samples[1].ID != s.ID {
		t.Errorf("samples\n%+v\nwant\n%+v", c.Samples, s)
	}
	if len(c.Missing) > 0 {
		t.Errorf("missing: %q", c.Missing)
	}
	if !Looks(whole(t)[:40]) || Looks([]byte("concurrency,output_tokens_per_second\n")) {
		t.Error("the beginning of a journal is not told from that of a table")
	}
}

// However far a journal got, what is there is read, and what is not is said.
func TestCutAnywhere(t *testing.T) {
	full := whole(t)
	firstLine := bytes.IndexByte(full, '\n') + 1
	ends := bytes.Count(full, []byte{'\n'})
	for cut := range len(full) + 1 {
		c, err := Read(bytes.NewReader(full[:cut]))
		if cut < firstLine-1 {
			if err == nil || !strings.Contains(err.Error(), "line 1") {
				t.Fatalf("cut at %d, inside the first line: %v", cut, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		lines := bytes.Count(full[:cut], []byte{'\n'})
		complete := lines == ends || lines == ends-1 && cut == len(full)-1
		if complete != (len(c.Missing) == 0) || complete != (c.Run.Status == load.StatusComplete) {
			t.Fatalf("cut at %d of %d: missing %q, status %s", cut, len(full), c.Missing, c.Run.Status)
		}
		inLine := full[cut-1] != '\n' && (cut == len(full) || full[cut] != '\n')
		if said := strings.Contains(strings.Join(c.Missing, "\n"), "is cut off"); said != inLine {
			t.Fatalf("cut at %d, inside a line %v: missing %q", cut, inLine, c.Missing)
		}
		if wantSamples := max(0, min(1, lines-2)) + max(0, min(1, lines-4)); len(c.Samples) < wantSamples {
			t.Fatalf("cut at %d after %d lines: %d samples", cut, lines, len(c.Samples))
		}
	}
}

func TestAKilledRunSaysWhatIsLost(t *testing.T) {
	run, v, s, b := filled()
	v.Ended, v.Level = load.EndedRunning, load.Level{Concurrency: 8, Windows: 5}
	b.InFlight = 8
	var out bytes.Buffer
	w := NewWriter(&out, run)
	w.Visit(&v)
	w.Sample(&s)
	w.Beat(&b)
	w.flush()
	killed := bytes.Clone(out.Bytes())
	if err := w.Close(load.StatusComplete, ""); err != nil {
		t.Fatal(err)
	}
	c, err := Read(bytes.NewReader(killed))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(c.Missing, "\n")
	if !strings.Contains(text, "about 8 requests were in flight") || !strings.Contains(text, "8 streams has 3 of 5 windows") {
		t.Errorf("missing: %q", text)
	}
	if c.Run.Status != load.StatusInterrupted || c.Run.StopReason == "" || len(c.Samples) != 1 {
		t.Errorf("%s %q, %d samples", c.Run.Status, c.Run.StopReason, len(c.Samples))
	}
}

// The format grows within v1: what this version does not know, it skips.
func TestUnknownFieldsAndLines(t *testing.T) {
	text := string(whole(t))
	text = strings.Replace(text, `{"sample":{`, `{"sample":{"FutureField":{"a":[1,2]},`, 1)
	text = strings.Replace(text, `{"visit":{`, `{"later":1,"visit":{"Colour":"red",`, 1)
	head, rest, _ := strings.Cut(text, "\n")
	head = strings.Replace(head, `{"run":{`, `{"run":{"Extra":null,`, 1)
	c, err := Read(strings.NewReader(head + "\n" + `{"weather":{"rain":true}}` + "\n\n" + rest))
	if err != nil || len(c.Samples) != 2 || len(c.Visits) != 1 || len(c.Missing) > 0 {
		t.Errorf("%v: %d samples, %d visits, missing %q", err, len(c.Samples), len(c.Visits), c.Missing)
	}
}

func TestErrorsNameTheirLine(t *testing.T) {
	full := string(whole(t))
	lines := strings.SplitAfter(full, "\n")
	change := func(n int, old, text string) string {
		l := append([]string(nil), lines...)
		if !strings.Contains(l[n-1], old) {
			t.Fatalf("line %d has no %q", n, old)
		}
		l[n-1] = strings.Replace(l[n-1], old, text, 1)
		return strings.Join(l, "")
	}
	chunks := lines[2][strings.Index(lines[2], `"chunks":"`):]
	const mend = "the line is damaged: delete it and the lines after it, or read the run's curve.json"
	for name, test := range map[string]struct{ text, want string }{
		"empty":              {"", "line 1: the journal is empty"},
		"not a journal":      {"concurrency,x\n1,2\n", "line 1: not JSON at byte 1; the journal cannot be read without this line"},
		"no run":             {lines[1], "line 1: a journal begins with its run"},
		"two runs":           {lines[0] + lines[0], "line 2: a second run in one journal; keep one run a file"},
		"another schema":     {change(1, "journal/v1", "journal/v9"), `line 1: its schema is "kneesweep/journal/v9"`},
		"no schema":          {`{"run":{"ID":"x"}}` + "\n", `line 1: its schema is ""`},
		"damaged line":       {change(3, `{"sample"`, `{sample`), "line 3: not JSON at byte 2; " + mend},
		"noise":              {lines[0] + "GET / HTTP/1.1\n" + lines[1], "line 2: not JSON at byte 1; " + mend},
		"no object":          {lines[0] + "[]\n", "line 2: not a JSON object; " + mend},
		"wrong kind":         {change(3, `"sample":{"id":`, `"sample":{"id":"x","was":`), "line 3: field \"sample.id\" at byte"},
		"damaged chunks":     {change(3, chunks[:14], `"chunks":"????`), `line 3: the arrivals in "chunks" cannot be unpacked; ` + mend},
		"cut chunks":         {change(3, chunks[:18], `"chunks":"`), `line 3: the arrivals in "chunks" cannot be unpacked; ` + mend},
		"content past chunk": {change(3, `"content_at":2`, `"content_at":4`), "line 3: the first content is chunk 4 of 3; " + mend},
		"content below 0":    {change(3, `"content_at":2`, `"content_at":-1`), "line 3: the first content"},
		"no streams":         {change(2, `"Concurrency":1099511`, `"Concurrency":-1099511`), "line 2: a visit of -1099511"},
		"window backwards":   {change(2, `"From":1000000000`, `"From":9000000000`), "line 2: window 1 of the visit"},
		"windows apart":      {change(2, `"To":3000000000`, `"To":2500000000`), "line 2: window 3 of the visit"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(strings.NewReader(test.text))
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// failing takes so many bytes, then fails with a new error each time.
type failing struct {
	mu             sync.Mutex
	room, failures int
	got            bytes.Buffer
}

func (f *failing) size() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.got.Len()
}

func (f *failing) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := min(f.room, len(b))
	f.room -= n
	f.got.Write(b[:n])
	if n < len(b) {
		f.failures++
		return n, fmt.Errorf("disk full, %d", f.failures)
	}
	return n, nil
}

func TestTheFirstErrorSticks(t *testing.T) {
	run, v, s, _ := filled()
	f := &failing{room: 2000}
	w := NewWriter(f, run)
	for range 50 {
		w.Sample(&s)
		w.Visit(&v)
	}
	if err := w.Err(); err == nil || err.Error() != "journal: disk full, 1" {
		t.Errorf("error %v", err)
	}
	if err := w.Close(load.StatusComplete, ""); err == nil || err.Error() != "journal: disk full, 1" || f.failures != 1 {
		t.Errorf("Close: %v after %d failures", err, f.failures)
	}
	if c, err := Read(&f.got); err != nil || c.Run.ID != run.ID || len(c.Missing) == 0 {
		t.Errorf("what was written before: %v, missing %q", err, c.Missing)
	}
}

// A reader that fails is an error, not the end of a journal.
func TestReadErrors(t *testing.T) {
	broken := errors.New("disk on fire")
	_, err := Read(readers{strings.NewReader(string(whole(t)[:3000])), broken})
	if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "line ") {
		t.Errorf("error %v", err)
	}
}

// readers is a reader whose end is an error.
type readers struct {
	r   *strings.Reader
	end error
}

func (r readers) Read(b []byte) (int, error) {
	if n, err := r.r.Read(b); err == nil {
		return n, nil
	}
	return 0, r.end
}

// What is written reaches the file within a second.
func TestFlushesEverySecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run, _, s, _ := filled()
		f := &failing{room: 1 << 20}
		w := NewWriter(f, run)
		before := f.size()
		w.Sample(&s)
		if f.size() != before {
			t.Error("a sample was written at once")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if f.size() == before {
			t.Error("a second later it is not written")
		}
		if err := w.Close(load.StatusComplete, ""); err != nil {
			t.Error(err)
		}
	})
}
