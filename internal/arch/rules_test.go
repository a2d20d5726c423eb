package arch

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

const module = "kneesweep"

// layers is the table of rule 7, lowest first: a package imports packages of
// lower layers only. A name ending in /... stands for a package and all below it.
var layers = [][]string{
	{"load", "internal/spell"},
	{"client/sse", "sweep/pace", "sim/pipe", "analysis/stat", "analysis/slo", "internal/secret", "gate", "record/rows"},
	{"workload", "client/probe", "record/journal", "record/peers", "record/table", "record/parquet", "record/prom", "analysis/steady", "analysis/knee", "analysis/cost", "sim"},
	{"client", "analysis"},
	{"sweep", "plots", "record/history", "analysis/compare", "analysis/claims", "analysis/plan", "analysis/regress", "report/page"},
	{"report", "ceiling"},
	{"nightly"},
	{"config"},
	{"cmd/..."},
}

// outside are packages that exist for tests and studies. They import what they
// like; nobody else imports them.
var outside = []string{"e2e/...", "internal/arch", "internal/accuracy/...", "internal/faults"}

// homes is the table of rule 4: modules by the beginning of their import path,
// and the one package tree that may import them.
var homes = []struct{ dependency, home string }{
	{"gonum.org/v1/plot", "plots/..."},
	{"database/sql", "record/history/..."},
	{"modernc.org/sqlite", "record/history/..."},
	{"github.com/jackc/pgx", "record/history/..."},
	{"github.com/robfig/cron", "nightly/..."},
	{"github.com/prometheus/client_golang", "record/prom/..."},
	{"github.com/prometheus/common", "client/probe"},
	{"github.com/prometheus/client_model", "client/probe"},
	{"github.com/parquet-go", "record/parquet/..."},
	{"go.yaml.in/yaml", "config/..."},
	{"gopkg.in/yaml.v2", "config/..."},
	{"gopkg.in/yaml.v3", "config/..."},
	{"github.com/urfave/cli", "cmd/..."},
	{"charm.land/bubbletea", "cmd/..."},
}

// pure are the trees of rule 3, inputOutput what they must not import.
var (
	pure        = []string{"analysis/...", "plots/..."}
	inputOutput = []string{"os", "net", "syscall", "io/fs", "io/ioutil", "log", "database/sql", "golang.org/x/sys"}
)

// drawers are the names of rule 10.
var drawers = []string{"util", "utils", "common", "helper", "helpers", "pkg", "lib"}

// unit is one package: its path below the module, and what it imports, with
// packages of the module by that same short path.
type unit struct {
	path    string
	imports []dependency
}

type dependency struct {
	path string
	own  bool // a package of this module
}

// finding is one broken rule.
type finding struct {
	rule     int
	offender string
	text     string
}

func (f finding) String() string {
	return fmt.Sprintf("rule %d: %s %s", f.rule, f.offender, f.text)
}

// checkImports holds rules 1 to 7 and 10 against a graph of imports.
func checkImports(units []unit) []finding {
	var found []finding
	for _, u := range units {
		report := func(rule int, format string, args ...any) {
			found = append(found, finding{rule, u.path, fmt.Sprintf(format, args...)})
		}
		if slices.Contains(drawers, path.Base(u.path)) {
			report(10, "is a drawer; name the package after what it does")
		}
		if within(u.path, outside...) {
			continue
		}
		if layerOf(u.path) < 0 {
			report(7, "has no layer; give it one in the table of internal/arch")
		}
		for _, d := range u.imports {
			if d.own {
				checkOwn(u.path, d.path, report)
			} else {
				checkForeign(u.path, d.path, report)
			}
		}
	}
	return found
}

// checkOwn judges an import within the module.
func checkOwn(from, to string, report func(int, string, ...any)) {
	if from == "load" {
		report(1, "imports %s; it may import the standard library only", to)
	}
	for _, pair := range [][2]string{{"client/...", "sweep/..."}, {"sweep/...", "client/..."}} {
		if within(from, pair[0]) && within(to, pair[1]) {
			report(2, "imports %s; client and sweep do not know each other, cmd joins them", to)
		}
	}
	if within(from, "analysis/...") && within(to, "sim/...") {
		report(3, "imports %s; analysis must not know the simulated endpoint", to)
	}
	switch {
	case within(to, "record/...", "report/...") && !within(from, "cmd/...", "nightly/...") && room(from) != room(to):
		report(6, "imports %s; only cmd, nightly and tests may", to)
	case within(to, "nightly/...", "config/...") && !within(from, "cmd/..."):
		report(6, "imports %s; only cmd may", to)
	}
	if within(to, outside...) {
		report(7, "imports %s, which is for tests only", to)
		return
	}
	low, high := layerOf(to), layerOf(from)
	switch {
	case within(from, "cmd/...") && within(to, "cmd/..."), low < 0, high < 0:
	case low == high:
		report(7, "imports %s of its own layer; arrows only go down", to)
	case low > high:
		report(7, "imports %s, %d layers above it; arrows only go down", to, low-high)
	}
}

// room is the first folder of a path: the parts of a room may use each other.
func room(path string) string {
	first, _, _ := strings.Cut(path, "/")
	return first
}

// checkForeign judges an import of the standard library or of another module.
func checkForeign(from, to string, report func(int, string, ...any)) {
	if from == "load" && !standard(to) {
		report(1, "imports %s; it may import the standard library only", to)
	}
	if within(from, pure...) && below(to, inputOutput...) {
		report(3, "imports %s; analysis and plots do no I/O", to)
	}
	for _, h := range homes {
		if below(to, h.dependency) && !within(from, h.home) {
			report(4, "imports %s, whose home is %s", to, strings.TrimSuffix(h.home, "/..."))
		}
	}
	if to == "flag" && !within(from, "cmd/...") {
		report(5, "imports flag; packages take plain structs")
	}
}

// layerOf returns the index of a package's layer, or -1.
func layerOf(path string) int {
	return slices.IndexFunc(layers, func(names []string) bool { return within(path, names...) })
}

// within reports whether path is one of the names or lies below one that ends in /...
func within(path string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		tree, isTree := strings.CutSuffix(name, "/...")
		return path == tree || isTree && strings.HasPrefix(path, tree+"/")
	})
}

// below reports whether an import path is one of the roots or lies below one, as
// a later major version does.
func below(path string, roots ...string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		return path == root || strings.HasPrefix(path, root+"/")
	})
}

// standard reports whether an import path belongs to the standard library: its
// first element has no dot.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}
