package ir_test

import (
	"encoding/json"
	"math"
	"testing"

	"pgregory.net/rapid"

	"car/internal/engine/ir"
)

// E-IR-2: numbers compare by value, objects whatever their order.
func TestEqual(t *testing.T) {
	t.Parallel()
	same := [][2]any{
		{nil, nil}, {true, true}, {"a", "a"}, {1, 1.0}, {int64(2), uint8(2)}, {json.Number("1.50"), 1.5}, {float32(0.5), 0.5}, {0.0, math.Copysign(0, -1)},
		{[]any{1, "x", nil}, []any{1.0, "x", nil}}, {[]string{"a"}, []any{"a"}}, {ir.ActionID("a"), "a"},
		{map[string]any{"a": 1, "b": []any{}}, map[string]any{"b": []any{}, "a": json.Number("1")}}, {map[string]int{"a": 1}, map[string]any{"a": 1.0}},
	}
	for _, pair := range same {
		if !ir.Equal(pair[0], pair[1]) || !ir.Equal(pair[1], pair[0]) {
			t.Errorf("%#v and %#v are not equal", pair[0], pair[1])
		}
	}
	different := [][2]any{
		{nil, false}, {nil, 0}, {nil, ""}, {nil, map[string]any{}}, {1, "1"}, {1, true}, {"a", "b"}, {true, false}, {1, 1.5}, {math.NaN(), math.NaN()},
		{[]any{}, map[string]any{}}, {[]any{}, nil}, {[]any{1}, []any{1, 1}}, {[]any{1, 2}, []any{2, 1}}, {json.Number("x"), 0},
		{map[string]any{"a": nil}, map[string]any{}}, {map[string]any{"a": nil}, map[string]any{"b": nil}}, {map[string]any{"a": 1}, map[string]any{"a": 2}},
		{make(chan int), make(chan int)},
	}
	for _, pair := range different {
		if ir.Equal(pair[0], pair[1]) || ir.Equal(pair[1], pair[0]) {
			t.Errorf("%#v and %#v are equal", pair[0], pair[1])
		}
	}
}

// E-IR-2: equality and digest tell the same values apart.
func TestEqualAgreesWithDigest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sound := jsonValue(2).Filter(func(v any) bool { return ir.CheckValue(v) == nil })
		a, b := sound.Draw(t, "a"), sound.Draw(t, "b")
		x, errX := ir.DigestOf(a)
		y, errY := ir.DigestOf(b)
		if errX != nil || errY != nil || (x == y) != ir.Equal(a, b) || !ir.Equal(a, a) {
			t.Fatalf("%v and %v: digests %s %s, equal %v", a, b, x, y, ir.Equal(a, b))
		}
	})
}

// E-IR-2: what each operator says of a value, of null and of a missing key; named
// behaviour "unknown operator fails".
func TestPreconditionHolds(t *testing.T) {
	t.Parallel()
	const missing = "\x00missing"
	for _, c := range []struct {
		operator     string
		value, state any
		want         bool
	}{
		{"eq", 1, 1.0, true}, {"eq", 1, 2, false}, {"eq", nil, nil, true}, {"eq", nil, missing, false}, {"eq", "a", missing, false},
		{"neq", 1, 2, true}, {"neq", 1, 1.0, false}, {"neq", 1, missing, true}, {"neq", nil, nil, false}, {"neq", nil, missing, true},
		{"gt", 1, 2, true}, {"gt", 1, 1, false}, {"gt", 1, missing, false}, {"gt", "a", "b", false}, {"gt", 1, "2", false}, {"gt", nil, 1, false},
		{"lt", 2, 1, true}, {"lt", 1, 1, false}, {"lt", 1, missing, false},
		{"gte", 1, 1, true}, {"gte", 1, 0, false}, {"gte", 0, missing, false}, {"gte", 0, nil, false},
		{"lte", 1, 1, true}, {"lte", 1, 2, false}, {"lte", 0, missing, false}, {"lte", 0, false, false},
		{"exists", nil, 1, true}, {"exists", nil, nil, true}, {"exists", nil, missing, false},
		{"not_exists", nil, 1, false}, {"not_exists", nil, nil, false}, {"not_exists", nil, missing, true},
		{"contains", "b", "abc", true}, {"contains", "x", "abc", false}, {"contains", "", "abc", true}, {"contains", 1, "1", false},
		{"contains", 2, []any{1.0, 2.0}, true}, {"contains", []any{1}, []any{[]any{1.0}}, true}, {"contains", 3, []any{1}, false},
		{"contains", "a", map[string]any{"a": 1}, false}, {"contains", "a", missing, false}, {"contains", nil, nil, false},
		{"contains", "a", []string{"a"}, true},
		{"matches", "a", "a", false}, {"EQ", 1, 1, false}, {"", 1, 1, false}, {"matches", nil, missing, false},
	} {
		value, present := c.state, c.state != missing
		if !present {
			value = nil
		}
		p := ir.Precondition{Key: "k", Operator: c.operator, Value: c.value}
		if got := p.Holds(value, present); got != c.want {
			t.Errorf("%v %q %v: %v, want %v", c.state, c.operator, c.value, got, c.want)
		}
	}
}

// E-IR-2: absence counts, whatever value comes with it.
func TestPreconditionOnAMissingKey(t *testing.T) {
	t.Parallel()
	for _, operator := range []string{"eq", "neq", "gt", "lt", "gte", "lte", "exists", "not_exists", "contains"} {
		p := ir.Precondition{Key: "k", Operator: operator, Value: 1.0}
		for _, value := range []any{0.0, 1.0, 2.0, []any{1.0}} {
			if got, want := p.Holds(value, false), operator == "not_exists" || operator == "neq"; got != want {
				t.Errorf("%s with %v: %v", operator, value, got)
			}
		}
	}
}

// P-6: a precondition allocates nothing.
func TestPreconditionAllocatesNothing(t *testing.T) {
	state := any(map[string]any{"a": []any{1.0, "x"}})
	for _, p := range []ir.Precondition{
		{Operator: "eq", Value: map[string]any{"a": []any{1.0, "x"}}}, {Operator: "gt", Value: 1.0}, {Operator: "exists"}, {Operator: "contains", Value: "x"},
	} {
		if n := testing.AllocsPerRun(100, func() { p.Holds(state, true) }); n > 0 {
			t.Errorf("%s: %v allocations", p.Operator, n)
		}
	}
}
