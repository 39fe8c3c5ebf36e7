package ir_test

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"car/internal/engine/ir"
)

func mustCanonical(t testing.TB, text string) string {
	t.Helper()
	got, err := ir.CanonicalText([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

// E-JCS-1: the worked examples of RFC 8785, sections 3.2.2 and 3.2.3; named
// behaviour "U+1F600 before U+FB33".
func TestCanonicalExamplesOfTheRFC(t *testing.T) {
	t.Parallel()
	got := mustCanonical(t, `{
	  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
	  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
	  "literals": [null, true, false]
	}`)
	want := `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	got = mustCanonical(t, `{
	  "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
	  "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis"
	}`)
	last := -1
	for _, name := range []string{"Carriage", "One", "Control", "Latin", "Euro", "Emoji", "Hebrew"} {
		at := strings.Index(got, name)
		if at <= last {
			t.Errorf("%s is out of order in %s", name, got)
		}
		last = at
	}
}

// E-JCS-1: RFC 8785 appendix B, by the bits of each double. Those that are written
// as integers beyond 2^53-1 have a canonical form and are refused all the same (E-JCS-2).
func TestCanonicalNumbersOfTheRFC(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bits    uint64
		want    string
		refused bool
	}{
		{0x0000000000000000, "0", false},
		{0x8000000000000000, "0", false},
		{0x0000000000000001, "5e-324", false},
		{0x8000000000000001, "-5e-324", false},
		{0x7fefffffffffffff, "1.7976931348623157e+308", false},
		{0xffefffffffffffff, "-1.7976931348623157e+308", false},
		{0x4340000000000000, "9007199254740992", true},
		{0xc340000000000000, "-9007199254740992", true},
		{0x4430000000000000, "295147905179352830000", true},
		{0x44b52d02c7e14af5, "9.999999999999997e+22", false},
		{0x44b52d02c7e14af6, "1e+23", false},
		{0x44b52d02c7e14af7, "1.0000000000000001e+23", false},
		{0x444b1ae4d6e2ef4e, "999999999999999700000", true},
		{0x444b1ae4d6e2ef4f, "999999999999999900000", true},
		{0x444b1ae4d6e2ef50, "1e+21", false},
		{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7", false},
		{0x3eb0c6f7a0b5ed8d, "0.000001", false},
		{0x41b3de4355555553, "333333333.3333332", false},
		{0x41b3de4355555554, "333333333.33333325", false},
		{0x41b3de4355555555, "333333333.3333333", false},
		{0x41b3de4355555556, "333333333.3333334", false},
		{0x41b3de4355555557, "333333333.33333343", false},
		{0xbecbf647612f3696, "-0.0000033333333333333333", false},
		{0x43143ff3c1cb0959, "1424953923781206.2", false},
	} {
		f := math.Float64frombits(c.bits)
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		if got := mustCanonical(t, string(text)); got != c.want {
			t.Errorf("%016x is written %s, want %s", c.bits, got, c.want)
		}
		canonical, err := ir.Canonical(f)
		if (err != nil) != c.refused {
			t.Errorf("%016x as a value: %s, %v", c.bits, canonical, err)
		}
	}
	for _, bits := range []uint64{0x7fffffffffffffff, 0x7ff0000000000000} {
		if got, err := ir.Canonical(math.Float64frombits(bits)); err == nil {
			t.Errorf("%016x is written %s", bits, got)
		}
	}
}

// E-JCS-2: a log that wraps accepted values may still be canonicalised, but never
// with two values under one name.
func TestCanonicalTextRefusals(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"a":1,"a":1}`, `"\ud800"`, "\"\xff\"", `{"a":1} x`, ``, `01`, `nul`} {
		if got, err := ir.CanonicalText([]byte(text)); err == nil {
			t.Errorf("%q became %s", text, got)
		}
	}
}

// E-JCS-1: the preimage is the filled object without what E-JCS-1 leaves out, so
// this digest is the same on every machine and in every version.
func TestDigestPreimage(t *testing.T) {
	t.Parallel()
	p := mustDecode(t, `{"id":"p","actions":[{"id":"a","type":"tool_call","tool":"t","parameters":{"b":2,"a":"é"}}]}`)
	want := `{"actions":[{"expected_effects":{},"failure_behavior":"abort","id":"a","idempotent":false,"invocation_mode":"one_shot",` +
		`"max_retries":3,"metadata":{},"parameters":{"a":"é","b":2},"preconditions":[],"reversibility":"irreversible",` +
		`"state_dependencies":[],"tool":"t","type":"tool_call"}],"context":{},"id":"p","source":"unknown","timestamp":"2026-01-02T03:04:05Z"}`
	got, err := ir.Canonical(p)
	if err != nil || string(got) != want {
		t.Fatalf("preimage %s (%v)\nwant     %s", got, err, want)
	}
	if d := mustDigest(t, p); d != ir.DigestBytes([]byte(want)) || len(d) != 64 || strings.ToLower(string(d)) != string(d) {
		t.Errorf("digest %s", d)
	}
	if got := ir.DigestBytes([]byte("abc")); got != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("SHA-256 of abc is %s", got)
	}
	params, err := p.Actions[0].ParamsDigest()
	if err != nil || params != ir.DigestBytes([]byte(`{"a":"é","b":2}`)) {
		t.Errorf("params_digest %s, %v", params, err)
	}
}

// E-JCS-1: what a Go caller leaves nil is what a decoder leaves empty.
func TestDigestOfBuiltAndDecodedAgree(t *testing.T) {
	t.Parallel()
	built := ir.Action{ID: "a", Type: ir.ToolCall, Tool: "t", MaxRetries: 3, Dependencies: []ir.ActionID{}, Assumptions: []ir.Assumption{}}
	decoded := mustDecode(t, `{"actions":[{"id":"a","type":"tool_call","tool":"t"}]}`).Actions[0]
	a, errA := built.Digest()
	b, errB := decoded.Digest()
	if errA != nil || errB != nil || a != b {
		t.Errorf("built %s (%v), decoded %s (%v)", a, errA, b, errB)
	}
	bare := ir.Proposal{ID: "p", Source: "s", Timestamp: testTime.In(time.FixedZone("", 3600)), Actions: []ir.Action{built}}
	if a, b := mustDigest(t, bare), mustDigest(t, bare.Fill(testDefaults())); a != b {
		t.Errorf("bare %s, filled %s", a, b)
	}
	if a, _ := (ir.Action{}).ParamsDigest(); a != ir.DigestBytes([]byte("{}")) {
		t.Errorf("no parameters digest to %s", a)
	}
}

// E-JCS-1: every member of an action takes part in its digest.
func TestDigestSeesEveryMember(t *testing.T) {
	t.Parallel()
	seen := map[ir.Digest]string{}
	for _, members := range []string{
		``, `"tool":"u",`, `"parameters":{"a":1},`, `"preconditions":[{"key":"k"}],`, `"preconditions":[{"key":"k","operator":"neq"}],`,
		`"expected_effects":{"k":1},`, `"state_dependencies":["k"],`, `"dependencies":["b"],`, `"after":["b"],`, `"read_set":["k"],`,
		`"write_set":["k"],`, `"assumptions":[{"key":"k"}],`, `"assumptions":[{"key":"k","expected_value":null}],`,
		`"assumptions":[{"key":"k","read_version":0}],`, `"invocation_mode":"streaming",`, `"reversibility":"reversible",`,
		`"compensation":{"type":"tool","tool":"u"},`, `"idempotent":true,`, `"max_retries":0,`, `"failure_behavior":"skip",`,
		`"timeout_ms":1,`, `"metadata":{"k":1},`,
	} {
		a := mustDecode(t, `{"actions":[{`+members+`"id":"a","type":"tool_call"}]}`).Actions[0]
		d, err := a.Digest()
		if err != nil {
			t.Fatal(err)
		}
		if twin, dup := seen[d]; dup {
			t.Errorf("%q and %q have one digest", members, twin)
		}
		seen[d] = members
	}
}

// Named behaviour "NaN in a Go proposal refused, no panic".
func TestNoDigestForWhatIsNotJSON(t *testing.T) {
	t.Parallel()
	p := ir.Proposal{Actions: []ir.Action{{Type: ir.ToolCall, Parameters: map[string]any{"x": []any{math.NaN()}}}}}
	if d, err := p.Digest(); err == nil || d != "" || !strings.Contains(err.Error(), "actions[0].parameters.x[0]") {
		t.Errorf("digest %q, error %v", d, err)
	}
}

// Named behaviour "key order, nested too, never changes a digest"; and another
// value always does.
func TestDigestIgnoresKeyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := jsonValue(4).Filter(func(v any) bool { return ir.CheckValue(v) == nil }).Draw(t, "value")
		want, err := ir.DigestOf(v)
		if err != nil {
			t.Fatal(err)
		}
		shuffled := shuffledText(t, v)
		canonical, err := ir.CanonicalText([]byte(shuffled))
		if err != nil {
			t.Fatalf("%s: %v", shuffled, err)
		}
		if got := ir.DigestBytes(canonical); got != want {
			t.Fatalf("%s digests to %s, the value to %s", shuffled, got, want)
		}
		var again any
		if err := json.Unmarshal(canonical, &again); err != nil || !ir.Equal(v, again) {
			t.Fatalf("canonical form %s reads back as another value (%v)", canonical, err)
		}
		other := []any{v, nil}
		if d, err := ir.DigestOf(other); err != nil || d == want {
			t.Fatalf("another value has the same digest (%v)", err)
		}
	})
}

// shuffledText writes a value with its members in a drawn order and odd spacing.
func shuffledText(t *rapid.T, v any) string {
	switch v := v.(type) {
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = shuffledText(t, item)
		}
		return "[" + strings.Join(parts, " ,\t") + "]"
	case map[string]any:
		names := rapid.Permutation(slices.Sorted(maps.Keys(v))).Draw(t, "order")
		parts := make([]string, len(names))
		for i, name := range names {
			quoted, _ := json.Marshal(name)
			parts[i] = string(quoted) + " :\n" + shuffledText(t, v[name])
		}
		return "{" + strings.Join(parts, ", ") + " }"
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
