package main

import (
	"bytes"
	"encoding/json"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// csvOf makes a CSV of levels and their tokens/s.
func csvOf(levels, rates string) string {
	var b strings.Builder
	b.WriteString("concurrency,output_tokens_per_second\n")
	x := strings.Split(rates, ",")
	for i, n := range strings.Split(levels, ",") {
		b.WriteString(n + "," + x[i] + "\n")
	}
	return b.String()
}

// hundredfold is 100·N for N = 2…19.
func hundredfold() (levels, rates string) {
	var n, x []string
	for i := 2; i <= 19; i++ {
		n, x = append(n, strconv.Itoa(i)), append(x, strconv.Itoa(100*i))
	}
	return strings.Join(n, ","), strings.Join(x, ",")
}

// TestKneesOfTables analyses curves from public reports whose answer is known.
func TestKneesOfTables(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many pictures")
	}
	t.Parallel()
	straightN, straightX := hundredfold()
	for _, c := range []struct {
		name, levels, rates string
		verdict             string
		lo, hi              float64 // of the knee; 0 = there is none
	}{
		{"knee between levels", "1,2,4,8,16,32,64", "40,80,160,320,640,1000,1000", "knee", 24.7, 25.3},
		{"knee at a level", "1,2,4,8,16,32,64", "50,100,200,400,800,800,800", "knee", 15.7, 16.3},
		{"no knee in range", straightN, straightX, "not_located", 0, 0},
		{"monotone decline", "1,2,4,8", "400,350,300,250", "at_or_below_first", 0, 0},
		{"longer decline", "1,2,4,8,16,32", "400,390,370,330,250,90", "at_or_below_first", 0, 0},
		{"failed level", "1,2,4,8,16,32,64", "50,100,200,400,0,800,800", "knee", 15.7, 16.3},
		{"one level", "1", "100", "too_few_levels", 0, 0},
		{"two levels", "1,2", "100,180", "too_few_levels", 0, 0},
		{"three levels", "1,2,4", "100,200,210", "too_few_levels", 0, 0},
		{"unsorted, with a repeated level", "8,1,4,2,8,16", "800,100,400,200,780,800", "knee", 7.9, 8.1},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := write(t, "curve.csv", csvOf(c.levels, c.rates))
			r := command("analyze", file, "--json")
			doc := object(t, r.out)
			if r.code != 0 || r.err != "" || at(t, doc, "knee.verdict") != c.verdict {
				t.Fatalf("exit %d, verdict %v, want %s; %s", r.code, at(t, doc, "knee.verdict"), c.verdict, r.err)
			}
			knee, _ := at(t, doc, "knee.concurrency").(map[string]any)
			if v, _ := knee["value"].(float64); c.lo == 0 && knee != nil || v < c.lo || v > c.hi {
				t.Errorf("knee %v, want %g to %g", knee, c.lo, c.hi)
			}
			if c.verdict == "not_located" && at(t, doc, "knee.lower_bound") != 19.0 {
				t.Errorf("the knee is above %v", at(t, doc, "knee.lower_bound"))
			}
			if before := command("analyze", "--json", file); before != r {
				t.Error("flags before the file give another answer")
			}
			if text := command("analyze", file); text.code != 0 || len(text.out) < 200 {
				t.Errorf("exit %d\n%s", text.code, text.out)
			}
			if c.verdict == "knee" {
				return
			}
			picture := filepath.Join(t.TempDir(), "curve.png")
			if p := command("plot", file, "-o", picture); p.code != 0 || p.out+p.err != "" {
				t.Errorf("plot: exit %d, %s%s", p.code, p.out, p.err)
			}
			if _, err := png.Decode(strings.NewReader(read(t, picture))); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTablesShowWhatFailed keeps a level without tokens in sight and out of the fit.
func TestTablesShowWhatFailed(t *testing.T) {
	t.Parallel()
	doc := object(t, command("analyze", "--json", write(t, "a.csv", csvOf("1,2,4,8,16,32,64", "50,100,200,400,0,800,800"))).out)
	step := doc["steps"].([]any)[4]
	if at(t, step, "concurrency") != 16.0 || at(t, step, "valid") != false || at(t, step, "invalid_reason") == nil {
		t.Errorf("step %v", step)
	}
	pooled := object(t, command("analyze", "--json", write(t, "b.csv", csvOf("8,1,4,2,8,16", "800,100,400,200,780,800"))).out)
	step = pooled["steps"].([]any)[3]
	if at(t, step, "concurrency") != 8.0 || at(t, step, "output_tokens_per_second.value") != 790.0 {
		t.Errorf("step %v", step)
	}
}

// TestTablesAsSpreadsheetsWriteThem gives the same curve for each way of writing.
func TestTablesAsSpreadsheetsWriteThem(t *testing.T) {
	t.Parallel()
	plain := csvOf("1,2,4,8,16", "40,80,160,170,170")
	steps := func(content string) string {
		r := command("analyze", "--json", write(t, "a.csv", content))
		if r.code != 0 {
			t.Errorf("exit %d: %s", r.code, r.err)
			return ""
		}
		b, _ := json.Marshal(object(t, r.out)["steps"])
		return string(b)
	}
	want := steps(plain)
	for name, content := range map[string]string{
		"BOM":         "\ufeff" + plain,
		"CRLF":        strings.ReplaceAll(plain, "\n", "\r\n"),
		"semicolons":  strings.ReplaceAll(plain, ",", ";"),
		"tabs":        strings.ReplaceAll(plain, ",", "\t"),
		"spaces":      strings.ReplaceAll(plain, ",", " , "),
		"no last end": strings.TrimSpace(plain),
		"empty lines": strings.ReplaceAll(plain, "\n", "\n\n"),
		"comment":     "# measured by hand; twice\n" + plain,
		"quotes":      strings.ReplaceAll(plain, "concurrency", `"Concurrency"`),
		"all of them": "\ufeff" + strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(plain, "concurrency", `"concurrency"`), ",", ";"), "\n", "\r\n"),
		"more":        strings.ReplaceAll(strings.ReplaceAll(plain, "\n", ",x\n"), "second,x", "second,note"),
	} {
		if got := steps(content); got != want {
			t.Errorf("%s: got %.200s", name, got)
		}
	}
}

// TestFilesThatCannotBeRead wants exit code 1 and one line that names the file
// and what is wrong with it.
func TestFilesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	const head = "concurrency,output_tokens_per_second\n"
	dir := t.TempDir()
	for name, c := range map[string]struct{ content, want string }{
		"empty":         {"", "the file is empty"},
		"blank":         {"\n \n", ""},
		"nul":           {"\x00\x00\x01", "not text"},
		"utf-16":        {"\xff\xfec\x00o\x00n\x00", "save it as UTF-8"},
		"noise":         {"\xfe\x80\x91 \x1b[31m", "line 1: no column \"concurrency\""},
		"list.json":     {"[{}]", "a JSON list"},
		"object.json":   {"{}", "names no schema"},
		"cut.json":      {`{"schema":"kneesweep/curve/v1","steps":[`, "cut off at byte 40"},
		"new.json":      {`{"schema":"kneesweep/curve/v9"}`, "newer than this program"},
		"no column.csv": {"concurrency,tps\n1,10\n", `line 1: no column "output_tokens_per_second"`},
		"no rows.csv":   {head, "no rows below the column names"},
		"negative.csv":  {head + "1,10\n2,-5\n", `line 3: output_tokens_per_second: "-5" is negative`},
		"words.csv":     {head + "1,fast\n", `line 2: output_tokens_per_second: "fast" is not a number`},
		"half.csv":      {head + "1.5,10\n", `line 2: concurrency: "1.5" is not a whole number`},
		"zero.csv":      {head + "0,10\n", `line 2: concurrency: "0" is not a whole number of at least 1`},
		"quote.csv":     {head + "1,\"10\n", "line 2"},
		"twice.csv":     {"concurrency,concurrency,output_tokens_per_second\n", `line 1: column "concurrency" is there twice`},
		"run.jsonl":     {`{"run":{"schema":"kneesweep/journal/v9"}}` + "\n", "line 1: "},
		"second.jsonl":  {strings.Repeat(`{"run":{"schema":"kneesweep/journal/v1"}}`+"\n", 2), "line 2: "},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		checkUnreadable(t, path, c.want)
	}
	checkUnreadable(t, filepath.Join(dir, "missing"), "no such file or directory")
	checkUnreadable(t, t.TempDir(), "a folder without curve.json and journal.jsonl")
}

func checkUnreadable(t *testing.T, path, want string) {
	t.Helper()
	for _, args := range [][]string{{"analyze", path}, {"analyze", "--json", path}, {"plot", path, "-o", filepath.Join(t.TempDir(), "x.png")}} {
		r := command(args...)
		if r.code != exitFailed || r.out != "" || !strings.HasPrefix(r.err, "kneesweep: "+path+": ") || !strings.Contains(r.err, want) || strings.Count(r.err, "\n") != 1 {
			t.Errorf("%s %s: exit %d, want 1 and %q; stdout %q, stderr %q", args[0], filepath.Base(path), r.code, want, r.out, r.err)
		}
	}
}

// TestMissingFigures reads cells that are no measurement as failed ones.
func TestMissingFigures(t *testing.T) {
	t.Parallel()
	r := command("analyze", "--json", write(t, "a.csv", csvOf("1,2,4,8,16", "NaN,Inf,,0,10")))
	doc := object(t, r.out)
	if r.code != 0 || len(doc["steps"].([]any)) != 5 || at(t, doc, "knee.verdict") != "too_few_levels" {
		t.Errorf("exit %d, %s, verdict %v", r.code, r.err, at(t, doc, "knee.verdict"))
	}
	for i, step := range doc["steps"].([]any) {
		if at(t, step, "valid") != (i == 4) {
			t.Errorf("step %d is valid: %v", i, at(t, step, "valid"))
		}
	}
}

// TestFiguresThatAreExtreme neither panic nor leave JSON.
func TestFiguresThatAreExtreme(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many pictures")
	}
	t.Parallel()
	for _, c := range [][2]string{
		{"1,2,4,8,16", "1e308,1e308,1e308,1e308,1e308"},
		{"1,2,4,8,16", "1e-320,2e-320,3e-320,3e-320,3e-320"},
		{"1000000000,2000000000,2100000000,2110000000", "1,2,3,3"},
		{"1,2,3,4,5", "1,1,1,1,1"},
		{"1,1000000000,2000000000,2100000000", "1,1e300,1e-300,1"},
		{"1,1,1,1,2,2,2,4,4,8,8", "1,1e308,5,4,1,1,1,7,1e308,3,3"},
	} {
		file := write(t, "a.csv", csvOf(c[0], c[1]))
		r := command("analyze", "--json", file)
		object(t, r.out)
		text := command("analyze", file)
		if r.code != 0 || text.code != 0 || text.out == "" {
			t.Errorf("%v: exit %d and %d, %s%s", c, r.code, text.code, r.err, text.err)
		}
		p := command("plot", file, "-o", filepath.Join(t.TempDir(), "x.png"))
		if p.code != 0 && p.code != exitFailed {
			t.Errorf("%v: plot exits %d: %s", c, p.code, p.err)
		}
	}
}

// TestPlotFormats writes each format; several files share one chart.
func TestPlotFormats(t *testing.T) {
	t.Parallel()
	a := write(t, "a.csv", csvOf("1,2,4,8,16,32", "40,80,160,320,330,330"))
	b := write(t, "b.csv", csvOf("1,2,4,8,16,32", "50,100,200,210,210,210"))
	for name, magic := range map[string]string{"x.png": "\x89PNG", "x.svg": "<?xml", "x.pdf": "%PDF", "X.PNG": "\x89PNG"} {
		out := filepath.Join(t.TempDir(), name)
		if r := command("plot", a, b, "-o", out); r.code != 0 {
			t.Errorf("%s: exit %d, %s", name, r.code, r.err)
			continue
		}
		if got := read(t, out); !strings.HasPrefix(got, magic) {
			t.Errorf("%s begins with %q", name, got[:8])
		}
	}
	r := command("plot", a, "-o", filepath.Join(t.TempDir(), "none", "x.png"))
	if r.code != exitFailed || !strings.HasPrefix(r.err, "kneesweep: -o: ") {
		t.Errorf("exit %d, %s", r.code, r.err)
	}
}

// TestAnalyzeOut writes the files of a curve, which can be analysed again.
func TestAnalyzeOut(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	first := command("analyze", write(t, "a.csv", csvOf("1,2,4,8,16,32", "40,80,160,320,330,330")), "--json", "--out", dir)
	again := command("analyze", dir, "--json")
	if first.code != 0 || again.code != 0 || again.out != first.out || first.out != read(t, filepath.Join(dir, curveFile)) {
		t.Errorf("exit %d and %d, %s%s", first.code, again.code, first.err, again.err)
	}
	if _, err := png.Decode(bytes.NewReader([]byte(read(t, filepath.Join(dir, figureFile))))); err != nil {
		t.Error(err)
	}
}

// TestRunThatDied analyses the folder of a killed run: its journal, cut anywhere.
func TestRunThatDied(t *testing.T) {
	t.Parallel()
	journal := read(t, filepath.Join(shared().dir, journalFile))
	const cuts = 50
	for i := range cuts {
		// Everywhere in the file, and about its first lines.
		cut := int(math.Round(float64(len(journal)) * float64(i) / cuts))
		if i%5 == 4 {
			cut = strings.Index(journal, "\n") + i%3
		}
		whole := strings.Count(journal[:cut], "\n")
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, journalFile), []byte(journal[:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		r := command("analyze", "--json", dir)
		switch {
		case r.code == exitFailed && whole == 0:
			if r.out != "" || !strings.HasPrefix(r.err, "kneesweep: "+dir+": ") || strings.Count(r.err, "\n") != 1 {
				t.Errorf("cut at %d: stdout %q, stderr %q", cut, r.out, r.err)
			}
		case r.code == 0:
			if !strings.Contains(r.err, "the run was not finished") {
				t.Errorf("cut at %d: what is missing is not said: %q", cut, r.err)
			}
			checkKept(t, journal[:cut], object(t, r.out))
		default:
			t.Errorf("cut at %d, after %d whole lines: exit %d, %s", cut, whole, r.code, r.err)
		}
	}
}

// checkKept wants everything in the lines before the cut: a level for each visit,
// and all windows of the visits that were over.
func checkKept(t *testing.T, kept string, doc map[string]any) {
	t.Helper()
	levels, windows := map[float64]bool{}, map[float64]int{}
	for line := range strings.Lines(kept) {
		var l struct {
			Visit *struct {
				Ended   string
				Level   struct{ Concurrency float64 }
				Windows []any
			}
		}
		if json.Unmarshal([]byte(line), &l) != nil || l.Visit == nil {
			continue
		}
		n := l.Visit.Level.Concurrency
		levels[n] = true
		if l.Visit.Ended == "" {
			windows[n] += len(l.Visit.Windows)
		}
	}
	steps := doc["steps"].([]any)
	if len(steps) != len(levels) {
		t.Errorf("%d levels of %d", len(steps), len(levels))
	}
	for _, step := range steps {
		n := at(t, step, "concurrency").(float64)
		if got := len(at(t, step, "measurements").([]any)); got < windows[n] {
			t.Errorf("level %v has %d windows of %d", n, got, windows[n])
		}
	}
}
