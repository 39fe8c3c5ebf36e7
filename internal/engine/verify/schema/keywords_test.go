package schema_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"car/internal/engine/ir"
	"car/internal/engine/verify/schema"
)

func check(t *testing.T, raw, params string) []string {
	t.Helper()
	s, err := schema.Compile(json.RawMessage(raw))
	if err != nil {
		t.Fatal(err)
	}
	if s.Degraded != "" {
		t.Fatalf("%s: degraded: %s", raw, s.Degraded)
	}
	var p map[string]any
	if err := json.Unmarshal([]byte(params), &p); err != nil {
		t.Fatal(err)
	}
	return s.Check(p)
}

// V-SCHEMA-2: every keyword has its sentence; a place is a JSON pointer.
func TestKeywords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ schema, params, want string }{
		{`{"properties":{"a":{"exclusiveMinimum":1,"multipleOf":2}}}`, `{"a":1}`, "parameter 'a' must be > 1 | parameter 'a' must be a multiple of 2"},
		{`{"properties":{"a":{"exclusiveMaximum":1}}}`, `{"a":1}`, "parameter 'a' must be < 1"},
		{`{"properties":{"a":{"maximum":1.5}}}`, `{"a":2}`, "parameter 'a' must be <= 3/2"},
		{`{"properties":{"a":{"minLength":2},"b":{"maxLength":1}}}`, `{"a":"é","b":"xy"}`, "parameter 'a' must have length >= 2 | parameter 'b' must have length <= 1"},
		{`{"properties":{"a":{"minItems":2},"b":{"maxItems":1},"c":{"uniqueItems":true}}}`, `{"a":[1],"b":[1,2],"c":[1,1]}`,
			"parameter 'a' must have at least 2 items | parameter 'b' must have at most 1 items | parameter 'c' must not repeat an item"},
		{`{"minProperties":2}`, `{"a":1}`, "the parameter object must have at least 2 properties"},
		{`{"maxProperties":1}`, `{"a":1,"b":2}`, "the parameter object must have at most 1 properties"},
		{`{"properties":{"a":{"const":{"k":1}}}}`, `{"a":2}`, `parameter 'a' must be {"k":1}`},
		{`{"properties":{"a":{"enum":[1,2,3,4,5,6,7,8,9]}}}`, `{"a":0}`, "parameter 'a' must be one of 1, 2, 3, 4, 5, 6, 7, 8, …"},
		{`{"properties":{"a":{"contains":{"type":"string"}}}}`, `{"a":[1,2]}`, "parameter 'a' violates contains"},
		{`{"properties":{"a":{"contains":{"type":"string"},"minContains":2}}}`, `{"a":["x",1]}`, "parameter 'a' violates minContains"},
		{`{"properties":{"a":{"not":{"type":"string"}}}}`, `{"a":"x"}`, "parameter 'a' matches what its schema rules out"},
		{`{"properties":{"a":false}}`, `{"a":1}`, "parameter 'a' is not allowed"},
		{`{"propertyNames":{"maxLength":2}}`, `{"abc":1,"xyz":2}`, "parameter name 'abc' violates propertyNames | parameter name 'xyz' violates propertyNames"},
		{`{"dependentRequired":{"a":["b","c"]}}`, `{"a":1}`, "parameter 'b' is required when 'a' is given | parameter 'c' is required when 'a' is given"},
		{`{"properties":{"o":{"dependentRequired":{"a":["b"]}}}}`, `{"o":{"a":1}}`, "parameter 'o/b' is required when 'o/a' is given"},
		{`{"oneOf":[{"required":["a"]},{"required":["b"]}]}`, `{"a":1,"b":2}`, "the parameter object matches more than one of its alternatives"},
		{`{"oneOf":[{"required":["a","x"]},{"required":["b"]}]}`, `{}`, "the parameter object matches none of its 2 alternatives; closest: missing required parameter 'b'"},
		{`{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{"a":1}`, "missing required parameter 'b'"},
		{`{"allOf":[{"required":["a"]},{"properties":{"b":{"type":"string"}}}]}`, `{"b":1}`, "missing required parameter 'a' | parameter 'b' has wrong type: expected string, got number"},
		{`{"$defs":{"s":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/s"}}}`, `{"a":1}`, "parameter 'a' has wrong type: expected string, got number"},
		{`{"properties":{"a/b~c":{"type":"object","properties":{"d/e":{"minimum":5}}}}}`, `{"a/b~c":{"d/e":1}}`, "parameter 'a~1b~0c/d~1e' must be >= 5"},
		{`{"unevaluatedProperties":false,"properties":{"a":true}}`, `{"a":1,"b":2}`, "parameter 'b' is not allowed"},
		{`{"properties":{"a":{"prefixItems":[{"type":"string"}],"items":false}}}`, `{"a":[1,2]}`, "parameter 'a/0' has wrong type: expected string, got number | parameter 'a/1' is not allowed"},
	} {
		if got := strings.Join(check(t, c.schema, c.params), " | "); got != c.want {
			t.Errorf("%s with %s:\n got %s\nwant %s", c.schema, c.params, got, c.want)
		}
	}
}

// V-SCHEMA-2: draft7_dependencies, by the $schema that names the draft.
func TestDraft7Dependencies(t *testing.T) {
	t.Parallel()
	got := check(t, `{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"],"c":{"required":["d"]}}}`, `{"a":1,"c":1}`)
	if want := []string{"parameter 'b' is required when 'a' is given", "missing required parameter 'd'"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	// The default draft knows no dependencies.
	if got := check(t, `{"dependencies":{"a":["b"]}}`, `{"b":1}`); len(got) != 0 {
		t.Errorf("got %q", got)
	}
}

// V-SCHEMA-2: what the library finds in the order of maps comes in ours, always the same.
func TestStableOrder(t *testing.T) {
	t.Parallel()
	const raw = `{"additionalProperties":false,"dependentRequired":{"p":["x","y"],"q":["z"]},"propertyNames":{"maxLength":1},
	 "properties":{"p":{"anyOf":[{"properties":{"f":{"minimum":9},"g":{"minimum":9},"h":{"minimum":9}}},{"required":["f1","f2","f3","f4"]}]},"q":true}}`
	const params = `{"p":{"f":1,"g":1,"h":1},"q":1,"u1":1,"u2":1,"u3":1,"long":1}`
	first := check(t, raw, params)
	if len(first) < 8 {
		t.Fatalf("findings %q", first)
	}
	for range 50 {
		if got := check(t, raw, params); !slices.Equal(got, first) {
			t.Fatalf("got %q\nthen %q", first, got)
		}
	}
}

// V-SCHEMA-4, V-GEN-6: what cannot be used, or would cost too much, degrades with its reason and keeps the first pass.
func TestDegradedReasons(t *testing.T) {
	t.Parallel()
	var fan strings.Builder
	for i := range 40 {
		fmt.Fprintf(&fan, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	deep := strings.Repeat(`{"not":`, 600) + `{}` + strings.Repeat(`}`, 600)
	for raw, reason := range map[string]string{
		`{"required":["a"],"properties":{"b":{"$ref":"http://127.0.0.1:1/x.json"}}}`:         "it refers to 'http://127.0.0.1:1/x.json', and nothing outside the schema is fetched",
		`{"required":["a"],"properties":{"b":{"$ref":"file:///etc/passwd"}}}`:                "it refers to 'file:///etc/passwd', and nothing outside the schema is fetched",
		`{"required":["a"],"properties":{"b":{"pattern":"(?=x)"}}}`:                          "pattern '(?=x)' is not RE2",
		`{"required":["a"],"properties":{"b":{"type":"text"}}}`:                              "it is no valid JSON Schema at 'properties/b/type'",
		`{"required":["a"],"$ref":"#"}`:                                                      "its references lead back to themselves on the same value",
		`{"required":["a"],"allOf":[{"anyOf":[{"$ref":"#/allOf/0"}]}]}`:                      "its references lead back to themselves on the same value",
		`{"required":["a"],"$defs":{` + fan.String() + `"d40":true},"$ref":"#/$defs/d0"}`:    "its references multiply to over 10000 checks of one value",
		`{"required":["a"],"x":` + deep + `}`:                                                "it is not I-JSON: x",
		`{"required":["a"],"required":["b","a"]}`:                                            "it is not I-JSON: ",
		`{"required":["a"],"description":"` + strings.Repeat("x", 256<<10) + `"}`:            "it is larger than 256 KiB",
		`{"required":["a"],"$schema":"https://example.invalid/draft","properties":{"b":{}}}`: "it refers to 'https://example.invalid/draft', and nothing outside the schema is fetched",
	} {
		s, err := schema.Compile(json.RawMessage(raw))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(s.Degraded, reason) || !slices.Contains(s.Check(nil), "missing required parameter 'a'") {
			t.Errorf("%.80s: degraded %q, want %q; findings %q", raw, s.Degraded, reason, s.Check(nil))
		}
	}
	// A type that refers to itself for parts of a value is an ordinary tree.
	if got := check(t, `{"$defs":{"tree":{"type":"object","properties":{"kids":{"items":{"$ref":"#/$defs/tree"}}}}},"properties":{"t":{"$ref":"#/$defs/tree"}}}`, `{"t":{"kids":[{"kids":[3]}]}}`); len(got) != 1 {
		t.Errorf("a tree: %q", got)
	}
}

// V-SCHEMA-3, V-SCHEMA-4: a set answers for the tools it has, compiles what is asked for, and degrades what is no JSON.
func TestSet(t *testing.T) {
	t.Parallel()
	set := schema.NewSet([]ir.ToolSchema{{Name: "a", Parameters: json.RawMessage(`{"required":["x"]}`)}, {Name: "b", Parameters: json.RawMessage(`{`)}, {Name: "c"}})
	if !set.Has("a") || set.Has("d") || !slices.Equal(set.Names(), []string{"a", "b", "c"}) || (*schema.Set)(nil).Has("a") || (*schema.Set)(nil).Names() != nil {
		t.Error("the set does not know its tools")
	}
	if got := set.Check("a", nil); !slices.Equal(got, []string{"missing required parameter 'x'"}) {
		t.Errorf("a: %q", got)
	}
	if set.Schema("b").Degraded != "it is not JSON" || len(set.Check("b", nil))+len(set.Check("c", nil))+len(set.Check("d", nil)) > 0 {
		t.Error("b, c or d has findings")
	}
	if first, again := set.Schema("a"), set.Schema("a"); first != again {
		t.Error("a schema was compiled twice")
	}
	start := time.Now()
	var tools []ir.ToolSchema
	for i := range 10_000 {
		tools = append(tools, ir.ToolSchema{Name: fmt.Sprint(i), Parameters: json.RawMessage(`{"properties":{"a":{"pattern":"x"}}}`)})
	}
	if schema.NewSet(tools).Check("7", nil); time.Since(start) > 5*time.Second {
		t.Error("tools that nobody calls were compiled")
	}
}

// V-CLI-1: tools come as an array of tools, a map, or names alone.
func TestDecodeTools(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[{"name":"b","parameters":{"required":["x"]}},{"name":"a"}]`: "b a schemas",
		`{"b":{"required":["x"]},"a":{"name":"zz","parameters":{}}}`:  "a b schemas",
		`["b","a"]`: "b a names", `[]`: " names", `{}`: " schemas",
		`["a",{"name":"b"}]`: "decode tools: names and tools are mixed; give all of one kind", `[1]`: "decode tools: [0]: is no tool", `[{}]`: "decode tools: [0]: is no tool: a name is needed",
		`3`: "decode tools: an array of tools", `{"a":1,"a":2}`: "decode tools: duplicate name", `[`: "decode tools: ", ``: "decode tools: ",
	} {
		r, err := schema.DecodeTools([]byte(text))
		got := strings.Join(r.Names, " ") + map[bool]string{true: " schemas", false: " names"}[r.Schemas != nil]
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
		if r.Schemas.Has("b") && len(r.Schemas.Check("b", nil)) != 1 {
			t.Errorf("%s: the schema of b was lost", text)
		}
	}
}

// V-BEYOND-7: any schema with any parameters: no panic, the same findings twice, no value in them.
func FuzzSchema(f *testing.F) {
	f.Add(edit, `{"path":"x","mode":"SECRET"}`)
	f.Add(`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#"}}}`, `{}`)
	f.Add(`{"oneOf":[{"type":"null"},false,{"not":{}}],"unevaluatedProperties":{"minimum":3}}`, `{"a":[1,{"b":null}]}`)
	f.Add(`{"properties":{"a":{"enum":[1e400]}}}`, `{"a":1e300}`)
	f.Fuzz(func(t *testing.T, raw, params string) {
		s, err := schema.Compile(json.RawMessage(raw))
		if err != nil || ir.CheckText([]byte(params)) != nil {
			return
		}
		var p map[string]any
		if json.Unmarshal([]byte(params), &p) != nil {
			return
		}
		first := s.Check(p)
		if again := s.Check(p); !slices.Equal(first, again) {
			t.Fatalf("%q, then %q", first, again)
		}
		for _, text := range first {
			if strings.TrimSpace(text) == "" || len(text) > 4096 {
				t.Fatalf("finding of %d bytes", len(text))
			}
		}
	})
}
