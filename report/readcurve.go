package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"kneesweep/analysis"
)

// ReadCurve reads a document that [CurveJSON] wrote. Fields that it does not
// know are skipped, since the schema grows. The error says what is wrong and
// where: a foreign or newer schema, or JSON that is broken or cut, with the
// line and byte at which reading stopped; and what can be done. A null bound of an interval, a null window and
// a null quantile beside known ones are read as NaN, which is written as null
// again.
func ReadCurve(r io.Reader) (analysis.Curve, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return analysis.Curve{}, fmt.Errorf("curve: %w", err)
	}
	var head struct {
		Schema *string `json:"schema"`
	}
	if err := decode(b, &head); err != nil {
		return analysis.Curve{}, err
	}
	if err := checkSchema(head.Schema, CurveSchema); err != nil {
		return analysis.Curve{}, err
	}
	var j curveJSON
	if err := decode(b, &j); err != nil {
		return analysis.Curve{}, err
	}
	for i, s := range j.Steps {
		if s.Concurrency < 1 {
			return analysis.Curve{}, fmt.Errorf("curve: steps[%d].concurrency is %d, want at least 1; %s", i, s.Concurrency, correct)
		}
		if i > 0 && s.Concurrency <= j.Steps[i-1].Concurrency {
			return analysis.Curve{}, fmt.Errorf("curve: steps[%d].concurrency is %d after %d, want ascending levels; sort the steps, or analyze the run's journal",
				i, s.Concurrency, j.Steps[i-1].Concurrency)
		}
	}
	return j.load(), nil
}

// What can be done about a document that cannot be read.
const (
	recopy  = "copy the file again, or analyze the run's journal"
	correct = "correct it, or analyze the run's journal"
	another = "give the curve.json or the journal of a run, or a result file that docs/peers.md lists"
)

// decode reads exactly one JSON document.
func decode(b []byte, v any) error {
	if len(bytes.TrimSpace(b)) == 0 {
		return errors.New("curve: the document is empty; " + recopy)
	}
	if bytes.HasPrefix(b, []byte("\ufeff")) {
		return errors.New("curve: line 1: the document begins with a byte order mark; save it as UTF-8 without one")
	}
	lineOf := func(offset int64) int { return 1 + bytes.Count(b[:offset], []byte("\n")) }
	d := json.NewDecoder(bytes.NewReader(b))
	err := d.Decode(v)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		end := int64(len(bytes.TrimRight(b, " \t\r\n")))
		return fmt.Errorf("curve: line %d: the JSON is cut off at byte %d; %s", lineOf(end), len(b), recopy)
	case errors.As(err, &syntax):
		return fmt.Errorf("curve: line %d: not JSON at byte %d; %s", lineOf(syntax.Offset-1), syntax.Offset, recopy)
	case errors.As(err, &kind):
		return fmt.Errorf("curve: line %d: field %q at byte %d holds %s, want %s; %s",
			lineOf(kind.Offset), kind.Field, kind.Offset, found(kind.Value), wanted(kind.Type), correct)
	case err != nil:
		return fmt.Errorf("curve: %w; %s", err, correct)
	}
	if rest := bytes.TrimSpace(b[d.InputOffset():]); len(rest) > 0 {
		return fmt.Errorf("curve: line %d: more than one JSON document: %d bytes follow byte %d; remove them, or, if this is a journal, put its first line back",
			lineOf(d.InputOffset()), len(rest), d.InputOffset())
	}
	return nil
}

// found names a kind of JSON value that encoding/json calls by value.
func found(value string) string {
	kind, literal, _ := strings.Cut(value, " ")
	switch kind {
	case "number":
		return strings.TrimSpace("the number " + fmt.Sprintf("%.40s", literal))
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "bool":
		return "true or false"
	}
	return "a " + kind
}

// wanted names the kind of JSON value that fits a type.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number from 0"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a string"
}

// checkSchema compares "kneesweep/<kind>/v<version>" names.
func checkSchema(got *string, want string) error {
	if got == nil {
		return fmt.Errorf("curve: the document names no schema, want %q; %s", want, another)
	}
	if *got == want {
		return nil
	}
	stem := want[:strings.LastIndex(want, "/v")+2]
	version, found := strings.CutPrefix(*got, stem)
	if n, err := strconv.Atoi(version); found && err == nil && n > 1 {
		return fmt.Errorf("curve: schema %.60q is newer than this program, which reads up to %q; use a newer kneesweep", *got, want)
	}
	return fmt.Errorf("curve: schema %.60q, want %q; %s", *got, want, another)
}
