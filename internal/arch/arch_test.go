package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// root is the folder of the module, seen from this package.
const root = "../.."

func TestImports(t *testing.T) {
	units := listUnits(t)
	if len(units) < 10 {
		t.Fatalf("go list knows %d packages, that cannot be all", len(units))
	}
	fail(t, checkImports(units))
}

// It also reads every file, so that a change anywhere voids the cached result.
func TestSources(t *testing.T) {
	sources, err := readSources(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(sources) < 50 {
		t.Fatalf("%d Go files were found, that cannot be all", len(sources))
	}
	fail(t, checkSources(sources))
}

func fail(t *testing.T, found []finding) {
	t.Helper()
	for _, f := range found {
		t.Error(f)
	}
}

// listUnits asks the go command for the import graph.
// Code that does not compile is not its business, hence -e.
func listUnits(t *testing.T) []unit {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Imports", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var units []unit
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return units
		}
		if err != nil {
			t.Fatal(err)
		}
		units = append(units, newUnit(p.ImportPath, p.Imports))
	}
}

func newUnit(importPath string, imports []string) unit {
	u := unit{path: strings.TrimPrefix(importPath, module+"/")}
	for _, i := range imports {
		short, own := strings.CutPrefix(i, module+"/")
		u.imports = append(u.imports, dependency{short, own})
	}
	return u
}
