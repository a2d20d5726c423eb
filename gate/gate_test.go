package gate

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// document is a curve with a knee, a level that is not valid and a level without
// a drift.
const document = `{
	"run": {"status": "complete", "label": null, "truth": null},
	"steps": [
		{"concurrency": 4, "valid": true, "steady": true, "error_rate": 0, "drift": 0.01, "token_source": "server",
			"output_tokens_per_second": {"value": 400, "lo": 390, "hi": 410}, "ttft_ms": {"p50": 100, "p95": 250}, "failures": {}},
		{"concurrency": 8, "valid": true, "steady": false, "error_rate": 0.008, "drift": null, "token_source": "server",
			"output_tokens_per_second": {"value": 750, "lo": 700, "hi": 800}, "ttft_ms": {"p50": 290, "p95": 500}, "failures": {"http_429": 3}},
		{"concurrency": 16, "valid": false, "steady": true, "error_rate": 0.4, "drift": 0.01, "token_source": null,
			"output_tokens_per_second": {"value": 90, "lo": 80, "hi": 95}, "ttft_ms": {"p50": 900, "p95": 999}, "failures": {"reset": 9}}],
	"knee": {"verdict": "knee", "concurrency": {"value": 24.5, "lo": 22, "hi": 26}, "retrograde": null, "soft": false, "n95": null},
	"admission_limit": null, "cause": {"name": "admission"},
	"recommended": {"concurrency": 23, "limited_by": "knee"}}`

func decoded(t testing.TB) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(document), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestEval(t *testing.T) {
	doc := decoded(t)
	for expr, want := range map[string]Truth{
		// an interval is its value
		"knee.concurrency >= 24.5":                   True,
		"knee.concurrency.lo >= 24":                  False,
		"knee.concurrency.hi <= 26.0":                True,
		"24 < knee.concurrency":                      True,
		"knee.concurrency > recommended.concurrency": True,
		"at(8).output_tokens_per_second.lo == 700":   True,
		// texts and booleans
		`knee.verdict == "knee"`:         True,
		`knee.verdict != 'still_rising'`: True,
		`cause.name == "compute"`:        False,
		"knee.soft":                      False,
		"not knee.soft":                  True,
		"knee.soft == false":             True,
		"!knee.soft && at(4).steady":     True,
		// units
		"at(8).ttft_ms.p95 <= 500":                True,
		"at(8).ttft_ms.p95 <= 500ms":              True,
		"at(8).ttft_ms.p95 <= 500 ms":             True,
		"at(8).ttft_ms.p95 <= 0.5s":               True,
		"at(8).ttft_ms.p95 == 5e5us":              True,
		"at(8).ttft_ms.p50 == 0.29s":              True,
		"at(8).ttft_ms.p95 < 0.4999s":             False,
		"at(8).error_rate == 0.8%":                True,
		"at(8).error_rate == 8e-3":                True,
		"at(8).error_rate >= -5%":                 True,
		"at(8).output_tokens_per_second < 1k":     True,
		"at(8).output_tokens_per_second > .0001M": True,
		// nulls
		"knee.retrograde == null":            True,
		"knee.retrograde != null":            False,
		"null == knee.retrograde":            True,
		"cause != null":                      True,
		"knee.concurrency != null":           True,
		"knee.retrograde.drop <= 5%":         Null,
		"knee.n95 >= 1":                      Null,
		"not knee.n95 >= 1":                  Null,
		"knee.n95 != 3":                      Null,
		`run.label == "a"`:                   Null,
		"knee.n95 >= knee.concurrency":       Null,
		"knee.n95 >= 1 and knee.soft":        False,
		"knee.n95 >= 1 or not knee.soft":     True,
		"knee.n95 >= 1 and not knee.soft":    Null,
		"knee.n95 == null or knee.n95 >= 20": True,
		"run.truth.knee == null":             True,
		// precedence
		"knee.soft and knee.soft or at(4).valid":      True,
		"at(4).valid or knee.soft and knee.soft":      True,
		"(at(4).valid or knee.soft) and knee.soft":    False,
		"not knee.soft and knee.soft":                 False,
		"not (knee.soft and knee.soft)":               True,
		"not not knee.soft":                           False,
		"not knee.concurrency == 24.5 or at(4).valid": True,
		// steps: figures count where a level is valid, its account everywhere
		"at(16).valid == false":                                  True,
		"at(16).ttft_ms.p95 >= 0":                                Null,
		"at(16).error_rate >= 40%":                               True,
		"at(5).valid":                                            Null,
		"at(5).ttft_ms.p95 == null":                              True,
		"at(8).failures.http_429 == 3":                           True,
		"at(4).failures.http_429 == 0":                           True,
		"all(steps.failures.http_429) == 0":                      False,
		"at(16).failures.reset == 9":                             True,
		"at(16).failures.http_100 == at(8).failures.http_599":    True,
		"all(steps.ttft_ms.p95) <= 500ms":                        True,
		"all(steps.ttft_ms.p95) <= 499ms":                        False,
		"max(steps.ttft_ms.p95) == 500":                          True,
		"min(steps.ttft_ms.p95) == 250":                          True,
		"max(steps.concurrency) == 8":                            True,
		"max(steps.error_rate) <= 1%":                            False,
		"all(steps.error_rate) <= 1%":                            False,
		"all(steps.valid)":                                       False,
		"any(steps.steady)":                                      True,
		"any(steps.output_tokens_per_second) >= 750":             True,
		"any(steps.output_tokens_per_second) > 750":              False,
		"700 <= any(steps.output_tokens_per_second)":             True,
		"knee.concurrency < all(steps.output_tokens_per_second)": True,
		`all(steps.token_source) == "server"`:                    True,
		"all(steps.drift) <= 5%":                                 Null,
		"all(steps.drift) <= 0":                                  False,
		"any(steps.drift) >= 1%":                                 True,
		"any(steps.drift) == null":                               True,
		"max(steps.drift) <= 5%":                                 Null,
	} {
		e, err := Parse(expr)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if got := e.Eval(doc).Holds; got != want {
			t.Errorf("%s is %d, want %d", expr, got, want)
		}
		if got := e.Eval(nil).Holds; got == want && want != Null && !strings.Contains(expr, "null") {
			t.Errorf("%s is %d without a document", expr, got)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for _, want := range []string{
		"\n^ want a field, such as knee.concurrency, or a value",
		"knee.concurency >= 32\n     ^ want a known field: concurrency?",
		"knees.verdict == \"knee\"\n^ want a known field: knee?",
		"retrograde == null\n^ want a known field: knee.retrograde, rates.knee.retrograde?",
		"ttft_ms.p95 <= 500\n^ want a known field: confirm.ttft_ms, at(N).ttft_ms, at(N).ttfc_ms?",
		"at(8).ttft.p95 <= 500\n      ^ want a known field: ttft_ms, ttft_cached_ms, ttft_uncached_ms?",
		"at(8).ttft_ms.p97 <= 500\n              ^ want a known field: p90, p95, p99?",
		"at(8).ttft_ms.q <= 500\n              ^ want one of count, mean, p50, p90, p95, p99",
		"at(8).ttft_ms <= 500\n                 ^ want null, or else one of the members on the other side: count, mean, p50, p90, p95, p99",
		"knee.concurrency.middle > 1\n                 ^ want one of its bounds: hi, lo, value",
		"knee.verdict.x == 1\n             ^ want no name here: verdict has no members",
		"knee.outliers == 1\n     ^ want a field that is one value; outliers is a list",
		"at(8).failures == 0\n      ^ want one count of the map, such as failures.http_429",
		"at(8).failures.timeout_idel == 0\n               ^ want a known cause: timeout_idle?",
		"all(steps.failures.http_42) == 0\n                   ^ want http_ and a status from 100 to 599, such as http_429",
		"at(8).failures.http_600 == 0\n               ^ want http_ and a status from 100 to 599, such as http_429",
		"at(8).failures.http_4290 == 0\n               ^ want http_ and a status from 100 to 599, such as http_429",
		"at(8).failures.steady == 0\n               ^ want http_ and a status, or one of canceled, client, connect, empty, frame_too_long, malformed, not_a_stream, reset, stream_error, timeout_first_token, timeout_idle, tls, truncated",
		"at(8).failures.reset.x == 0\n                     ^ want no name here: reset has no members",
		"cause.name != \"admision\"\n              ^ want one of \"admission\", \"compute\", \"prefill\", \"throttled\", \"network\", \"client\", \"unknown\"",
		"all(steps.token_source) == \"sever\"\n                           ^ want one of \"server\", \"server_scaled\", \"estimated\"",
		"steps.error_rate <= 1%\n^ want at(N) for the step at N streams, or all, any, min or max: all(steps.…)",
		"steps[0].valid\n     ^ want at(N) before a field of the step at N streams, or all(steps.…), any, min or max over steps",
		"at(0).valid\n   ^ want a number of streams, such as at(8)",
		"at(8) <= 1\n      ^ want a dot and a field of the step, such as .ttft_ms.p95",
		"at(8.valid\n     ^ want one of the units us, ms, s, %, k and M, or a space",
		"avg(steps.drift) < 1\n^ want at, all, any, min or max before a parenthesis",
		"max(knee.n95) < 1\n    ^ want a field of steps, such as steps.ttft_ms.p95",
		"max(steps.valid) == 1\n    ^ want a field that is a number; all and any take others too",
		"all(steps.ttft_ms) < 1\n    ^ want one of the members of this field: count, mean, p50, p90, p95, p99",
		"all(steps.valid\n               ^ want )",
		"all(steps.drift) < any(steps.drift)\n                   ^ want all or any on one side only",
		"knee.n95\n        ^ want one of the operators == != <= >= < >",
		"true\n    ^ want one of the operators == != <= >= < >",
		"knee.n95 = 3\n         ^ want == to compare, or <= or >=",
		"knee.n95 => 3\n         ^ want == to compare, or <= or >=",
		"1 <= knee.n95 <= 5\n              ^ want one operator in a comparison; join two comparisons with and",
		"1 <= 5\n^ want a field on one side, such as knee.concurrency",
		"knee.n95 > null\n         ^ want == or != with null",
		"knee.n95 >= 500ms\n            ^ want a number, such as 32 or 2k",
		"at(8).error_rate < 1s\n                   ^ want a fraction, such as 0.05 or 5%",
		"5% > at(8).ttft_ms.p95\n^ want a time, such as 500, 500ms or 0.5s (a number alone is milliseconds)",
		"at(8).ttft_ms.p95 > knee.n95\n                    ^ want a time, such as 500, 500ms or 0.5s (a number alone is milliseconds)",
		"knee.verdict == knee\n                ^ want a text in quotes, such as \"knee\"",
		"knee.verdict == 1\n                ^ want a text in quotes, such as \"knee\"",
		"knee.verdict < \"knee\"\n             ^ want == or != with a text, true or false",
		"knee.verdict == \"Knee\"\n                ^ want one of \"knee\", \"too_few_levels\", \"at_or_below_first\", \"not_located\", \"still_rising\"",
		"knee.soft == 1\n             ^ want true or false",
		"knee.soft == 'x\n             ^ want the quote that ends this text",
		"knee.n95 > 3 sec\n             ^ want and, or, or the end of the expression",
		"knee.n95 > 3sec\n            ^ want one of the units us, ms, s, %, k and M, or a space",
		"knee.n95 > 1e999\n           ^ want a number that is not so large",
		"knee.n95 > 1 + 2\n             ^ want a field, a value, an operator or a parenthesis",
		"(knee.n95 > 1\n             ^ want and, or, or )",
		"knee.soft and\n             ^ want a field, such as knee.concurrency, or a value",
		"knee.soft == true == true\n                  ^ want one operator in a comparison; join two comparisons with and",
		"run.label == \"é\" x\n                 ^ want and, or, or the end of the expression",
	} {
		expr, _, _ := strings.Cut(want, "\n")
		_, err := Parse(expr)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%q gives %v", expr, err)
		} else if err.Error() != want {
			t.Errorf("got\n%v\nwant\n%s", err, want)
		}
	}
}

func TestLongAndOddExpressions(t *testing.T) {
	if _, err := Parse(strings.Repeat("(", 1<<20)); err == nil {
		t.Error("a long expression is accepted")
	}
	if _, err := Parse(strings.Repeat("not ", 400) + "knee.soft"); err != nil {
		t.Error(err)
	}
	_, err := Parse("knee.soft\n\tor x\x1b")
	if got := err.Error(); got != "knee.soft  or x \n               ^ want a field, a value, an operator or a parenthesis" {
		t.Errorf("got\n%s", got)
	}
}

func TestString(t *testing.T) {
	for in, want := range map[string]string{
		"knee.n95>=2 k":                           "knee.n95 >= 2k",
		"((knee.soft))":                           "knee.soft",
		"!knee.soft||knee.soft&&knee.soft":        "not knee.soft or knee.soft and knee.soft",
		"not(knee.soft or (at(8).valid))":         "not (knee.soft or at(8).valid)",
		"knee.soft and (knee.soft and knee.soft)": "knee.soft and (knee.soft and knee.soft)",
		"(knee.soft and knee.soft) and knee.soft": "knee.soft and knee.soft and knee.soft",
		"at( 8 ).ttft_ms.p95<0.5 s":               "at(8).ttft_ms.p95 < 0.5s",
		"max( steps.drift )<'5%'":                 "",
		"all(steps.drift)!=null":                  "all(steps.drift) != null",
		`run.label=='say "a"'`:                    `run.label == 'say "a"'`,
	} {
		e, err := Parse(in)
		if want == "" {
			if err == nil {
				t.Errorf("%s is accepted", in)
			}
			continue
		}
		if err != nil || e.String() != want || e.Source() != in {
			t.Errorf("%s is %s from %s, want %s; %v", in, e, e.Source(), want, err)
		}
	}
}

func TestTextAndValue(t *testing.T) {
	for expr, want := range map[string]struct{ text, value string }{
		"knee.concurrency >= 32":         {"knee.concurrency is 24.5", "24.5"},
		"at(8).ttft_ms.p95 <= 500":       {"at(8).ttft_ms.p95 is 500 ms", "500"},
		"at(8).error_rate <= 1":          {"at(8).error_rate is 0.8%", "0.008"},
		`knee.verdict == "knee"`:         {`knee.verdict is "knee"`, `"knee"`},
		"knee.retrograde == null":        {"knee.retrograde is null", "null"},
		"cause == null":                  {`cause is {"name":"admission"}`, `{"name":"admission"}`},
		"at(16).ttft_ms.p95 < 1":         {"at(16).ttft_ms.p95 is null, that level is not valid", "null"},
		"at(5).ttft_ms.p95 < 1":          {"at(5).ttft_ms.p95 is null, that level was not measured", "null"},
		"max(steps.error_rate) < 1":      {"max(steps.error_rate) is 40% at N = 16", "0.4"},
		"max(steps.drift) < 1":           {"max(steps.drift) is null, since it is null at N = 8", "null"},
		"all(steps.drift) < 1":           {"all(steps.drift): 1% at N = 4, null at 8", "[0.01,null]"},
		"knee.soft or 1 < knee.n95":      {"knee.soft is false; knee.n95 is null", `{"knee.n95":null,"knee.soft":false}`},
		"1 < knee.n95 and knee.n95 < 99": {"knee.n95 is null", "null"},
	} {
		e, err := Parse(expr)
		if err != nil {
			t.Fatal(err)
		}
		r := e.Eval(decoded(t))
		value, err := json.Marshal(r.Value())
		if r.Text() != want.text || string(value) != want.value || err != nil {
			t.Errorf("%s: %s, %s, want %s, %s", expr, r.Text(), value, want.text, want.value)
		}
	}
	e, _ := Parse("all(steps.steady)")
	if r := e.Eval(map[string]any{}); r.Holds != Null || r.Text() != "all(steps.steady) is [], no level counts for it" {
		t.Errorf("without steps: %v, %s", r.Holds, r.Text())
	}
	if b, err := json.Marshal([]Truth{False, Null, True}); string(b) != "[false,null,true]" || err != nil {
		t.Errorf("truths are %s", b)
	}
}

// FuzzParse reads anything without panic; what it accepts is printed in a form that
// is read as the same condition, and can be evaluated.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"knee.concurrency >= 32", "at(8).ttft_ms.p95 <= 0.5 s and not (knee.soft or all(steps.error_rate) <= 1%)",
		`knee.verdict == "knee" or knee.retrograde != null`, "5e-3M < any(steps.failures.http_429)", "((", "\xff", "at(", "max(steps.", "!1.e3%",
	} {
		f.Add(s)
	}
	doc := decoded(f)
	f.Fuzz(func(t *testing.T, s string) {
		e, err := Parse(s)
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || strings.Count(err.Error(), "\n") != 1 {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		printed := e.String()
		again, err := Parse(printed)
		if err != nil || again.String() != printed {
			t.Fatalf("%q is printed as %q, and that as %q: %v", s, printed, again, err)
		}
		a, b := e.Eval(doc), again.Eval(doc)
		if a.Holds != b.Holds || a.Text() != b.Text() {
			t.Fatalf("%q is %v (%s), and printed %v (%s)", s, a.Holds, a.Text(), b.Holds, b.Text())
		}
	})
}
