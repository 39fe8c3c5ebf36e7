package calculate

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"car/internal/engine/tool"
	"car/internal/tools/tooltest"
)

func TestSuite(t *testing.T) {
	t.Parallel()
	tooltest.Suite(t, tooltest.Case{
		Tool: New(tool.Bindings{}), House: tooltest.Open(t, time.Now),
		Good: []map[string]any{{"expression": "1+1"}, {"expression": "2^5000"}, {"expression": "exp(50)"}, {"expression": "1/3"}},
		Bad:  []map[string]any{{}, {"expression": 1.0}, {"expression": strings.Repeat("1+", 600) + "1"}},
	})
}

// T-CALC-1, T-CALC-2: exact where it can be, marked where not.
func TestResults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]any{
		"2 + 3 * 4": 14.0, "(2+3)*4": 20.0, "-2^2": -4.0, "(-2)^2": 4.0, "2^-1": 0.5, "2^3^2": 512.0, "2**3**2": 512.0, "2 ** -2": 0.25,
		"0.1+0.2": 0.3, "1/3*3": 1.0, "100*1.15": 115.0, "1e3": 1000.0, "1.5e-3": 0.0015, "-7 % 3": -1.0, "7.5 % 2": 1.5, "10 - 2 - 3": 5.0, "--3": 3.0,
		"2 * -3": -6.0, "9007199254740991": 9007199254740991.0, "9007199254740992": "9007199254740992", "9223372036854775807+1": "9223372036854775808",
		"2^100": "1267650600228229401496703205376", "1.000000000000000000001": "1.000000000000000000001", "sqrt(16)": 4.0, "sqrt(1/4)": 0.5,
		"abs(-3)": 3.0, "min(3, 1, 2)": 1.0, "max(3,1,2)": 3.0, "round(2.5)": 3.0, "round(-2.5)": -3.0, "round(3.14159, 2)": 3.14, "round(1234, -2)": 1200.0,
		"floor(-1.5)": -2.0, "ceil(-1.5)": -1.0, "ceil(1.2)": 2.0, "log(1000)": 3.0, "log(0.001)": -3.0, "1^99999999999999999999": 1.0, "(-1)^99999999999999999999": -1.0,
		"0^0": 1.0, "0^5": 0.0, "PI*0": 0.0, "Sqrt(4)": 2.0, "1 ": 1.0, "((((1))))": 1.0, "3 - -3": 6.0, ".5": 0.5, "5.": 5.0,
	} {
		v, err := evaluate(text)
		got, approximate := v.render()
		if text == "PI*0" {
			if f, ok := got.(float64); !ok || f != 0 || !approximate {
				t.Errorf("%s: got %v", text, got)
			}
			continue
		}
		if err != nil || got != want || approximate {
			t.Errorf("%s: got %v approximate=%v %v, want %v", text, got, approximate, err, want)
		}
	}
	for text, want := range map[string]float64{
		"1/3": 1.0 / 3, "sqrt(2)": math.Sqrt2, "pi": math.Pi, "e": math.E, "ln(e)": 1, "exp(1)": math.E, "sin(0)": 0, "cos(0)": 1, "tan(0.5)": math.Tan(0.5),
		"2^0.5": math.Sqrt2, "log(2)": math.Log10(2), "pi*2": 2 * math.Pi, "floor(pi)": 3, "round(pi,2)": 3.14,
	} {
		v, err := evaluate(text)
		got, approximate := v.render()
		if err != nil || got != want || !approximate {
			t.Errorf("%s: got %v approximate=%v %v, want about %v", text, got, approximate, err, want)
		}
	}
}

// T-CALC-2: what has no answer is an error with its position.
func TestErrorsHavePositions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"6 ** ** 7": "position 6", "": "position 1: a value is missing", "1 +": "position 4", "1 2": `position 3: unexpected "2"`, "1/0": "position 2: division by zero",
		"5 % 0": "position 3: division by zero", "0^-1": "position 2: division by zero", "(1": "position 1: ( is never closed", "1)": `position 2: unexpected ")"`,
		"foo(1)": `position 1: unknown name "foo"`, "é+1": "position 1", "1+é": "position 3", "sqrt(-1)": "position 1", "ln(0)": "position 1", "log(-5)": "position 1",
		"10^10001": "position 3: the result has too many digits", "9^9^9^9": "too many digits", "exp(1000)": "position 1: the result is too large", "1e99999": "position 1: the exponent is too large",
		"sin 1": "position 5: sin needs", "min()": "position 5", "sqrt(1,2)": "position 1: sqrt takes 1 argument", "(-8)^(1/3)": "not a real number",
		"1e": `unexpected "e"`, ".": "needs digits", "1,000": `unexpected ","`, "2pi": `unexpected "p"`, "a": "unknown name", "$x": "position 1",
		strings.Repeat("(", 70) + "1" + strings.Repeat(")", 70): "nested deeper than 64", strings.Repeat("-", 100) + "1": "nested deeper",
	} {
		_, err := evaluate(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: got %v, want %q", text, err, want)
		}
	}
	if v, err := evaluate("10^9999"); err != nil {
		t.Errorf("10^9999: %v", err)
	} else if s, _ := v.render(); len(s.(string)) != 10_000 {
		t.Error("10^9999 has not 10,000 digits")
	}
}

func TestNothingPanicsOrHangs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([0-9.e+\-*/%^() ,]|sqrt|min|round|pi|ln|log){0,30}`).Draw(t, "text")
		v, err := evaluate(text)
		if err != nil {
			return
		}
		if got, _ := v.render(); got != got { //nolint:staticcheck // NaN is the only value unlike itself
			t.Fatalf("%q is NaN", text)
		}
	})
}

// The result is shown to a person too.
func TestBlock(t *testing.T) {
	t.Parallel()
	ran, err := New(tool.Bindings{}).Run(t.Context(), tool.Call{Params: map[string]any{"expression": "1/4"}}, tool.Env{})
	if err != nil || ran.Blocks[0].Title != "1/4" || ran.Blocks[0].Text != "0.25" {
		t.Errorf("%+v %v", ran.Blocks, err)
	}
}
