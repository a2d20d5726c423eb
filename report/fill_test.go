package report

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"kneesweep/analysis"
	"kneesweep/load"
)

// filled is a curve in which every field, however deep, has a value of its own,
// so that a field that a document forgets is noticed.
func filled(t *testing.T) analysis.Curve {
	t.Helper()
	var c analysis.Curve
	n := 0
	fill(t, reflect.ValueOf(&c).Elem(), &n)
	p := &c.Confirm.Open.Phase // what only a sweep over rates asks of its phases
	p.Index, p.Pass, p.Started, p.Ended, p.Client = 0, 0, 0, "", load.Process{}
	return c
}

func fill(t *testing.T, v reflect.Value, n *int) {
	t.Helper()
	*n++
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = time.Date(2026, 11, 30, 20, 15, *n%60, 250e6, time.UTC)
		return
	case *time.Duration:
		*x = time.Duration(*n) * time.Millisecond
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0), n)
		fill(t, v.Index(1), n)
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]int{fmt.Sprint("key", *n): *n}))
	case reflect.String:
		v.SetString(fmt.Sprint("text", *n))
	case reflect.Int:
		v.SetInt(int64(*n))
	case reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) / 8)
	case reflect.Bool:
		v.SetBool(true)
	default:
		t.Fatalf("cannot fill a %s", v.Type())
	}
}
