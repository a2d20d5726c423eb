package report

import (
	"bytes"
	"encoding/json"
	"io"

	"kneesweep/analysis"
	"kneesweep/load"
)

// The schemas of the documents that this package writes. A schema only grows:
// fields are added under the same version, never renamed.
const (
	CurveSchema  = "kneesweep/curve/v1"
	SampleSchema = "kneesweep/sample/v1"
)

// curveJSON is the whole document.
type curveJSON struct {
	Schema      string          `json:"schema"`
	Run         runJSON         `json:"run"`
	Steps       []stepJSON      `json:"steps"`
	Knee        kneeJSON        `json:"knee"`
	Estimates   []estimateJSON  `json:"estimates"`
	Admission   *intervalJSON   `json:"admission_limit"`
	Cause       *causeJSON      `json:"cause"`
	Recommended recommendedJSON `json:"recommended"`
	Used        *usedJSON       `json:"used"`
	Account     *accountJSON    `json:"cost"`
	Confirm     *confirmJSON    `json:"confirm"`
	Rates       *ratesJSON      `json:"rates"`
	At          *atJSON         `json:"at"`
	Warnings    []load.Warning  `json:"warnings"`
}

func curveOf(c analysis.Curve) curveJSON {
	j := curveJSON{
		Schema: CurveSchema, Run: runOf(c.Run), Knee: kneeOf(c.Knee),
		Steps: make([]stepJSON, 0, len(c.Steps)), Estimates: make([]estimateJSON, 0, len(c.Estimates)),
		Admission: intervalOrNull(c.Admission), Cause: causeOf(c.Cause),
		Recommended: recommendedOf(c.Recommended), Used: usedOf(c.Used), Account: accountOf(c.Account), Confirm: confirmOf(c.Confirm), Rates: ratesOf(c.Rates), At: atOf(c.At), Warnings: list(c.Warnings),
	}
	for _, s := range c.Steps {
		j.Steps = append(j.Steps, stepOf(s))
	}
	for _, e := range c.Estimates {
		j.Estimates = append(j.Estimates, estimateOf(e))
	}
	return j
}

func (j curveJSON) load() analysis.Curve {
	c := analysis.Curve{
		Run: j.Run.load(), Knee: j.Knee.load(), Admission: j.Admission.opt(), Cause: j.Cause.load(),
		Recommended: j.Recommended.load(), Used: j.Used.load(), Account: j.Account.load(), Confirm: j.Confirm.load(), Rates: j.Rates.load(), At: j.At.load(), Warnings: j.Warnings,
	}
	for _, s := range j.Steps {
		c.Steps = append(c.Steps, s.load())
	}
	for _, e := range j.Estimates {
		c.Estimates = append(c.Estimates, e.load())
	}
	return c
}

// CurveJSON writes c as one strict JSON document of [CurveSchema], indented and
// ended by a newline. Times are milliseconds; what is undefined or not finite
// is null. Its errors are those of w.
func CurveJSON(w io.Writer, c analysis.Curve) error {
	b, err := MarshalCurve(c)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// MarshalCurve is the document that [CurveJSON] writes.
func MarshalCurve(c analysis.Curve) ([]byte, error) { return document(curveOf(c)) }

// document encodes one JSON document with its newline, leaving <, > and & as
// they are.
func document(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
