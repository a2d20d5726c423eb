package arch

import (
	"slices"
	"strings"
	"testing"
)

// A checker that cannot fail is worth nothing: each rule is broken here once, on
// graphs and files that were made up.

func TestCheckImports(t *testing.T) {
	tests := []struct {
		from, to string
		want     []int // rules broken
	}{
		// What the design asks for.
		{"load", "time", nil},
		{"analysis", "kneesweep/load", nil},
		{"analysis", "kneesweep/analysis/knee", nil},
		{"analysis/knee", "gonum.org/v1/gonum/mat", nil},
		{"client", "net/http", nil},
		{"client", "kneesweep/client/sse", nil},
		{"sweep", "kneesweep/analysis", nil},
		{"plots", "gonum.org/v1/plot/vg", nil},
		{"record/history", "database/sql", nil},
		{"report", "kneesweep/plots", nil},
		{"nightly", "kneesweep/report", nil},
		{"config", "go.yaml.in/yaml/v3", nil},
		{"cmd/kneesweep", "kneesweep/config", nil},
		{"cmd/kneesweep", "github.com/urfave/cli/v2", nil},
		{"cmd/kneesweep", "kneesweep/cmd/internal/flags", nil},
		{"cmd/kneesweep", "os", nil},
		{"internal/accuracy", "kneesweep/report", nil},
		{"sweep", "netip.example/os", nil},

		{"load", "golang.org/x/sync/errgroup", []int{1}},
		{"load", "kneesweep/sim/pipe", []int{1, 7}},
		{"client", "kneesweep/sweep", []int{2, 7}},
		{"client/probe", "kneesweep/sweep/pace", []int{2}},
		{"sweep", "kneesweep/client", []int{2}},
		{"analysis", "kneesweep/sim", []int{3}},
		{"analysis/knee", "kneesweep/sim/pipe", []int{3}},
		{"analysis/stat", "os", []int{3}},
		{"plots", "os/exec", []int{3}},
		{"plots", "net/http", []int{3}},
		{"report", "gonum.org/v1/plot", []int{4}},
		{"sweep", "database/sql", []int{4}},
		{"nightly", "modernc.org/sqlite", []int{4}},
		{"nightly", "github.com/jackc/pgx/v5/pgxpool", []int{4}},
		{"client/probe", "github.com/prometheus/client_golang/prometheus", []int{4}},
		{"record/history", "github.com/parquet-go/parquet-go", []int{4}},
		{"client", "go.yaml.in/yaml/v3", []int{4}},
		{"config", "github.com/urfave/cli/v2", []int{4}},
		{"sweep", "flag", []int{5}},
		{"sweep", "kneesweep/record/journal", []int{6}},
		{"report", "kneesweep/record/history", []int{6}},
		{"config", "kneesweep/nightly", []int{6}},
		{"sim", "kneesweep/config", []int{6, 7}},
		{"analysis", "kneesweep/sweep", []int{7}},
		{"plots", "kneesweep/sweep", []int{7}},
		{"sim", "kneesweep/workload", []int{7}},
		{"sweep", "kneesweep/e2e/tinymodel", []int{7}},
		{"surprise", "time", []int{7}},
		{"analysis/surprise", "time", []int{7}},
		{"analysis/util", "time", []int{10, 7}},
	}
	for _, tt := range tests {
		t.Run(tt.from+"→"+tt.to, func(t *testing.T) {
			found := checkImports([]unit{newUnit(module+"/"+tt.from, []string{tt.to})})
			var got []int
			for _, f := range found {
				got = append(got, f.rule)
				if f.offender != tt.from {
					t.Errorf("offender = %s, want %s", f.offender, tt.from)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("rules broken = %v, want %v: %v", got, tt.want, found)
			}
		})
	}
}

func TestFindingNamesRuleOffenderAndReason(t *testing.T) {
	found := checkImports([]unit{newUnit("kneesweep/report", []string{"gonum.org/v1/plot/vg"})})
	const want = "rule 4: report imports gonum.org/v1/plot/vg, whose home is plots"
	if len(found) != 1 || found[0].String() != want {
		t.Errorf("found %v, want [%s]", found, want)
	}
}

func TestLayersNameEachPackageOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, names := range append(slices.Clone(layers), outside) {
		for _, name := range names {
			if seen[name] {
				t.Errorf("%s is in the table twice", name)
			}
			seen[name] = true
		}
	}
}

func TestCheckSources(t *testing.T) {
	const doc = "// Package x is made up.\npackage x\n"
	tests := []struct {
		name, file, text string
		want             []int
	}{
		{"clean", "analysis/x/x.go", doc + "import \"time\"\nvar D time.Duration\n", nil},
		{"clock", "analysis/x/x.go", doc + "import \"time\"\nvar T = time.Now()\n", []int{3}},
		{"clock under another name", "plots/x.go", doc + "import clock \"time\"\nvar F = clock.Since\n", []int{3}},
		{"clock where it belongs", "sweep/x.go", doc + "import \"time\"\nvar T = time.Now()\n", nil},
		{"own method Now", "analysis/x.go", doc + "type t struct{}\nfunc (t) Now() {}\nfunc f(time t) { time.Now() }\n", nil},
		{"loose goroutine", "analysis/x.go", doc + "func f() { go f() }\n", []int{3}},
		{"loose group", "analysis/x.go", doc + "import \"sync\"\nfunc f(g *sync.WaitGroup) { g.Go(nil) }\n", []int{3}},
		{"awaited goroutine", "analysis/x.go", doc + "import \"sync\"\nfunc f() { var g sync.WaitGroup; g.Go(nil); g.Wait() }\n", nil},
		{"environment", "client/x.go", doc + "import \"os\"\nvar V = os.Getenv(\"V\")\n", []int{5}},
		{"environment in cmd", "cmd/x/x.go", doc + "import \"os\"\nvar V = os.Getenv(\"V\")\n", nil},
		{"environment in a test", "client/x_test.go", doc + "import \"os\"\nvar V = os.Getenv(\"V\")\n", nil},
		{"longest file", "load/x.go", doc + strings.Repeat("\n", longestFile-2), nil},
		{"too long", "load/x.go", doc + strings.Repeat("\n", longestFile-1), []int{8}},
		{"long test", "load/x_test.go", doc + strings.Repeat("\n", longestFile), nil},
		{"no comment", "load/x.go", "package x\n", []int{9}},
		{"detached comment", "load/x.go", "// Package x is made up.\n\npackage x\n", []int{9}},
		{"comment about something else", "load/x.go", "// Copyright.\npackage x\n", []int{9}},
		{"command", "cmd/x/main.go", "// Command x is made up.\npackage main\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := parse(tt.file, []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			found := checkSources([]source{s})
			var got []int
			for _, f := range found {
				got = append(got, f.rule)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("rules broken = %v, want %v: %v", got, tt.want, found)
			}
		})
	}
}

func TestPackageCommentMayStandInAnyFile(t *testing.T) {
	var sources []source
	for name, text := range map[string]string{"load/a.go": "package load\n", "load/doc.go": "// Package load is made up.\npackage load\n"} {
		s, err := parse(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, s)
	}
	if found := checkSources(sources); len(found) != 0 {
		t.Errorf("found %v, want nothing", found)
	}
}
