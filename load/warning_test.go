package load_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every code of a warning is explained where scripts look for it.
func TestWarningCodesAreDocumented(t *testing.T) {
	source, err := os.ReadFile("warning.go")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`Warn\w+ += "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	if len(codes) < 20 {
		t.Fatalf("only %d codes found", len(codes))
	}
	for _, c := range codes {
		if !strings.Contains(string(doc), "| `"+c[1]+"` |") {
			t.Errorf("docs/format.md does not explain %q", c[1])
		}
	}
}
