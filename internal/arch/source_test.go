package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const longestFile = 400 // lines, rule 8

// forbidden are functions of the standard library that some trees must not use.
var forbidden = []struct {
	rule     int
	applies  func(dir string) bool
	pkg      string
	names    []string
	sentence string
}{
	{
		3, func(dir string) bool { return within(dir, pure...) }, "time",
		[]string{"Now", "Since", "Until", "After", "AfterFunc", "NewTicker", "NewTimer", "Sleep", "Tick"},
		"analysis and plots read no clock",
	},
	{
		5, func(dir string) bool { return !within(dir, "cmd/...") && !within(dir, outside...) }, "os",
		[]string{"Args", "Environ", "ExpandEnv", "Getenv", "LookupEnv"},
		"packages take plain structs, cmd reads the environment",
	},
}

// source is one Go file.
type source struct {
	name string // from the root, with slashes
	text []byte
	tree *ast.File
}

func (s source) dir() string { return path.Dir(s.name) }

func (s source) isTest() bool { return strings.HasSuffix(s.name, "_test.go") }

func parse(name string, text []byte) (source, error) {
	tree, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
	return source{name, text, tree}, err
}

// readSources parses every Go file of the module, whatever its build tags. Hidden
// folders, testdata and modules of their own are left out.
func readSources(root string) ([]source, error) {
	var sources []source
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir() && name != "." && skipped(file):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(name) != ".go":
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		s, err := parse(filepath.ToSlash(name), text)
		sources = append(sources, s)
		return err
	})
	return sources, err
}

func skipped(dir string) bool {
	base := filepath.Base(dir)
	if strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// checkSources holds rules 3, 5, 8 and 9 against source text.
func checkSources(sources []source) []finding {
	var found []finding
	commented := map[string]bool{}
	for _, s := range sources {
		commented[s.dir()] = commented[s.dir()] || hasPackageComment(s.tree)
		if s.isTest() {
			continue
		}
		if n := bytes.Count(s.text, []byte("\n")); n > longestFile {
			found = append(found, finding{8, s.name, fmt.Sprintf("has %d lines, at most %d are allowed", n, longestFile)})
		}
		found = append(found, checkCalls(s)...)
		if within(s.dir(), pure...) {
			found = append(found, checkGoroutines(s)...)
		}
	}
	for dir, ok := range commented {
		if !ok {
			found = append(found, finding{9, dir, "has no package comment"})
		}
	}
	return found
}

func hasPackageComment(f *ast.File) bool {
	text := f.Doc.Text()
	return strings.HasPrefix(text, "Package "+f.Name.Name+" ") || f.Name.Name == "main" && strings.HasPrefix(text, "Command ")
}

// checkCalls looks for forbidden functions, called or passed on.
func checkCalls(s source) []finding {
	var found []finding
	for _, f := range forbidden {
		local, ok := localName(s.tree, f.pkg)
		if !ok || !f.applies(s.dir()) {
			continue
		}
		ast.Inspect(s.tree, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == local && slices.Contains(f.names, sel.Sel.Name) {
				found = append(found, finding{f.rule, s.name, fmt.Sprintf("uses %s.%s; %s", f.pkg, sel.Sel.Name, f.sentence)})
			}
			return true
		})
	}
	return found
}

// localName returns the name under which a file knows an imported package.
func localName(f *ast.File, pkg string) (string, bool) {
	for _, spec := range f.Imports {
		if strings.Trim(spec.Path.Value, `"`) != pkg {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name, true
		}
		return path.Base(pkg), true
	}
	return "", false
}

// checkGoroutines asks that a function which starts goroutines also waits, with
// a method named Wait. It cannot see whether it waits for the right ones.
func checkGoroutines(s source) []finding {
	var found []finding
	for _, decl := range s.tree.Decls {
		starts, waits := false, false
		ast.Inspect(decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				starts = true
			case *ast.CallExpr:
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok {
					starts = starts || sel.Sel.Name == "Go"
					waits = waits || sel.Sel.Name == "Wait"
				}
			}
			return true
		})
		if f, ok := decl.(*ast.FuncDecl); ok && starts && !waits {
			found = append(found, finding{3, s.name, fmt.Sprintf("starts a goroutine in %s and does not wait for it", f.Name.Name)})
		}
	}
	return found
}
