package ir_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"car/internal/engine/ir"
)

// nested is arrays within arrays, depth deep.
func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

func nestedValue(depth int) any {
	v := any([]any{})
	for range depth - 1 {
		v = []any{v}
	}
	return v
}

// E-JCS-2: what text is I-JSON; named behaviours "2^53 refused, 2^53-1 not" and
// `{"a":1,"a":2}` refused.
func TestCheckText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{`9007199254740991`, ""},
		{`-9007199254740991`, ""},
		{`9007199254740992`, "integer 9007199254740992 is beyond ±(2^53-1)"},
		{`-9007199254740992`, "integer -9007199254740992 is beyond"},
		{`9007199254740993`, "integer 9007199254740993 is beyond"},
		{`{"a":[1,{"b":123456789012345678901234567890}]}`, "a[1].b: integer 123456789012345678901234567890 is beyond"},
		// These two become one double, so that an approval of one would cover the other (D-18).
		{`9007199254740992.0`, "integer 9007199254740992 is beyond"},
		{`9.007199254740993e15`, "integer 9007199254740992 is beyond"},
		{`1e20`, "integer 100000000000000000000 is beyond"},
		{`1e21`, ""},
		{`1000000000000000000000`, "is beyond"},
		{`1e400`, "number 1e400 does not fit a double"},
		{`-1e400`, "number -1e400 does not fit a double"},
		{`1e-400`, ""},
		{`-0`, ""},
		{`0.1`, ""},
		{`{"a":1,"a":2}`, `duplicate name "a"`},
		{`{"a":1,"A":2}`, ""},
		{`{"x":[{"a":1,"b":2,"a":3}]}`, `x[0]: duplicate name "a"`},
		{`{"":1,"":2}`, `duplicate name ""`},
		{`"\ud83d\ude00"`, ""},
		{`"\ud83d"`, `lone surrogate \ud83d`},
		{`"\ud83dx"`, `lone surrogate \ud83d`},
		{`"\ud83d\ud83d"`, `lone surrogate \ud83d`},
		{`"\ude00\ud83d"`, `lone surrogate \ude00`},
		{`"\\ud800"`, ""},
		{`{"\ud800":1}`, `name: lone surrogate \ud800`},
		{"\"\xc3\x28\"", "invalid UTF-8"},
		{"{\"k\xff\":1}", "name: invalid UTF-8"},
		{"\"\xed\xa0\x80\"", "invalid UTF-8"},
		{nested(128), ""},
		{nested(129), "nested deeper than 128"},
		{`{"a":` + nested(128) + `}`, "nested deeper than 128"},
		{strings.Repeat(`{"a":`, 128) + "1" + strings.Repeat("}", 128), ""},
		{strings.Repeat(`{"a":`, 129) + "1" + strings.Repeat("}", 129), "nested deeper than 128"},
		{strings.Repeat("[", 10_000_000), "not JSON"},
		{`{"a":}`, "not JSON"},
		{` { "a" : [ 1 , true , false , null , "x" ] } ` + "\n", ""},
	} {
		got := ""
		if err := ir.CheckText([]byte(c.text)); err != nil {
			got = err.Error()
		}
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("CheckText(%.60q) says %.200q, want %q", c.text, got, c.want)
		}
	}
}

type labelled struct {
	Name string         `json:"name"`
	Gone chan int       `json:"-"`
	In   map[string]any `json:"in"`
	priv chan int
}

// E-JCS-2 for Go values; named behaviour "NaN in a Go proposal refused, no panic".
func TestCheckValue(t *testing.T) {
	t.Parallel()
	loop := map[string]any{}
	loop["self"] = loop
	type ring *ring
	var self ring
	self = &self
	for _, c := range []struct {
		name  string
		value any
		want  string
	}{
		{"plain", map[string]any{"a": []any{nil, true, "x", 1.5}}, ""},
		{"integers", []any{1, int8(1), uint64(1<<53 - 1), int64(-(1<<53 - 1)), json.Number("12")}, ""},
		{"typed", map[string]any{"s": []string{"x"}, "m": map[string]int{"k": 1}, "t": time.Unix(0, 0), "e": ir.ToolCall, "id": ir.ActionID("a")}, ""},
		{"nil pointer", (*int)(nil), ""},
		{"nil slice", []string(nil), ""},
		{"NaN", map[string]any{"a": []any{1.0, math.NaN()}}, "a[1]: number NaN is not finite"},
		{"infinity", math.Inf(-1), "number -Inf is not finite"},
		{"float32 infinity", float32(math.Inf(1)), "number +Inf is not finite"},
		{"2^53 float", float64(1 << 53), "integer 9007199254740992 is beyond"},
		{"2^53 int", int64(1 << 53), "integer 9007199254740992 is beyond"},
		{"2^53 uint", uint64(1 << 53), "integer 9007199254740992 is beyond"},
		{"2^53 number", json.Number("9007199254740992"), "integer 9007199254740992 is beyond"},
		{"1e21", 1e21, ""},
		{"no number", json.Number("abc"), `"abc" is no number`},
		{"empty number", json.Number(""), `"" is no number`},
		{"number that is text", json.Number(`"1"`), `is no number`},
		{"invalid UTF-8", map[string]any{"k": "\xff"}, "k: invalid UTF-8"},
		{"invalid name", map[string]any{"\xff": 1}, "invalid UTF-8"},
		{"invalid in struct", labelled{Name: "\xff"}, "name: invalid UTF-8"},
		{"struct", labelled{In: map[string]any{"x": []any{math.NaN()}}, priv: nil}, "in.x[0]: number NaN"},
		{"channel", map[string]any{"c": make(chan int)}, "c: go type chan int is no JSON value"},
		{"nil channel", (chan int)(nil), "go type chan int is no JSON value"},
		{"function", func() {}, "go type func() is no JSON value"},
		{"complex", 1i, "go type complex128 is no JSON value"},
		{"bytes", []byte("x"), "go type []uint8 is no JSON value"},
		{"number keys", map[int]string{1: "x"}, "go type map[int]string is no JSON value"},
		{"raw text", json.RawMessage(`{"a":1,"a":2}`), `duplicate name "a"`},
		{"broken raw text", json.RawMessage(`{`), "not JSON"},
		{"holds itself", loop, "nested deeper than 128"},
		{"points at itself", self, "nested deeper than 128"},
		{"128 deep", nestedValue(128), ""},
		{"129 deep", nestedValue(129), "nested deeper than 128"},
		{"raw text in a value", []any{json.RawMessage(nested(128))}, "nested deeper than 128"},
		{"unencodable time", time.Date(123456, 1, 1, 0, 0, 0, 0, time.UTC), "year"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if err := ir.CheckValue(c.value); err != nil {
				got = err.Error()
			}
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %.200q, want %q", got, c.want)
			}
		})
	}
}

// E-JCS-2: of several offences the same one is named every time, so that a log can
// be byte-identical.
func TestCheckValueNamesTheSameOffence(t *testing.T) {
	t.Parallel()
	bad := map[string]any{}
	for _, name := range strings.Split("qwertyuiopasdfghjklzxcvbnm", "") {
		bad[name] = math.NaN()
	}
	for range 50 {
		if err := ir.CheckValue(bad); err == nil || !strings.HasPrefix(err.Error(), "a: ") {
			t.Fatalf("got %v, want the one at a", err)
		}
	}
}

// E-JCS-2: text and the value it decodes to are judged alike.
func TestTextAndValueAgree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := jsonValue(4).Draw(t, "value")
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		byValue, byText := ir.CheckValue(v), ir.CheckText(text)
		if (byValue == nil) != (byText == nil) {
			t.Fatalf("%s: as a value %v, as text %v", text, byValue, byText)
		}
	})
}

// Clone gives decoded JSON that shares nothing with what it was made of.
func TestClone(t *testing.T) {
	t.Parallel()
	inner := []any{1, "x"}
	original := map[string]any{"list": inner, "typed": []string{"a"}, "id": ir.ActionID("a1"), "when": testTime, "n": uint8(3)}
	copied, err := ir.Clone(original)
	if err != nil {
		t.Fatal(err)
	}
	inner[1] = "changed"
	want := map[string]any{"list": []any{1.0, "x"}, "typed": []any{"a"}, "id": "a1", "when": "2026-01-02T03:04:05Z", "n": 3.0}
	if !ir.Equal(copied, want) {
		t.Errorf("got %v, want %v", copied, want)
	}
	if _, err := ir.Clone(map[string]any{"x": math.NaN()}); err == nil {
		t.Error("a value that is not JSON was cloned")
	}
}

// jsonValue draws decoded JSON, numbers at the edges included.
func jsonValue(depth int) *rapid.Generator[any] {
	leaf := rapid.OneOf(
		rapid.Just[any](nil),
		rapid.Bool().AsAny(),
		rapid.String().AsAny(),
		rapid.StringMatching(`[a-z: ()"\[…\n=]{0,12}`).AsAny(),
		rapid.Float64().AsAny(),
		rapid.Map(rapid.Int64Range(-1<<53, 1<<53), func(i int64) any { return float64(i) }),
	)
	if depth == 0 {
		return leaf
	}
	inner := jsonValue(depth - 1)
	return rapid.OneOf(leaf, leaf,
		rapid.SliceOfN(inner, 0, 4).AsAny(),
		rapid.MapOfN(rapid.StringN(0, 6, -1), inner, 0, 5).AsAny(),
	)
}
