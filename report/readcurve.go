package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"kneesweep/analysis"
)

// ReadCurve reads a document that [CurveJSON] wrote. Fields that it does not
// know are skipped, since the schema grows. The error says what is wrong and
// where: a foreign or newer schema, or JSON that is broken or cut, with the
// byte at which reading stopped. A null bound of an interval, a null window and
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
			return analysis.Curve{}, fmt.Errorf("curve: steps[%d].concurrency is %d, want at least 1", i, s.Concurrency)
		}
		if i > 0 && s.Concurrency <= j.Steps[i-1].Concurrency {
			return analysis.Curve{}, fmt.Errorf("curve: steps[%d].concurrency is %d after %d, want ascending levels",
				i, s.Concurrency, j.Steps[i-1].Concurrency)
		}
	}
	return j.load(), nil
}

// decode reads exactly one JSON document.
func decode(b []byte, v any) error {
	if len(bytes.TrimSpace(b)) == 0 {
		return errors.New("curve: the document is empty")
	}
	d := json.NewDecoder(bytes.NewReader(b))
	err := d.Decode(v)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("curve: the JSON is cut off at byte %d", len(b))
	case errors.As(err, &syntax):
		return fmt.Errorf("curve: not JSON at byte %d: %w", syntax.Offset, err)
	case errors.As(err, &kind):
		return fmt.Errorf("curve: field %q at byte %d holds a %s, want %s", kind.Field, kind.Offset, kind.Value, kind.Type)
	case err != nil:
		return fmt.Errorf("curve: %w", err)
	}
	if rest := bytes.TrimSpace(b[d.InputOffset():]); len(rest) > 0 {
		return fmt.Errorf("curve: more than one JSON document: %d bytes follow byte %d", len(rest), d.InputOffset())
	}
	return nil
}

// checkSchema compares "kneesweep/<kind>/v<version>" names.
func checkSchema(got *string, want string) error {
	if got == nil {
		return fmt.Errorf("curve: the document names no schema, want %q", want)
	}
	if *got == want {
		return nil
	}
	stem := want[:strings.LastIndex(want, "/v")+2]
	version, found := strings.CutPrefix(*got, stem)
	if n, err := strconv.Atoi(version); found && err == nil && n > 1 {
		return fmt.Errorf("curve: schema %q is newer than this program, which reads up to %q", *got, want)
	}
	return fmt.Errorf("curve: schema %q, want %q", *got, want)
}
