package schema_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"car/internal/engine/verify/schema"
)

const edit = `{"type":"object","additionalProperties":false,"required":["path","mode"],
 "properties":{"path":{"type":"string","minLength":1,"pattern":"^[a-z]"},"mode":{"enum":["a","b"]},"n":{"type":["integer","null"],"minimum":1},
 "edits":{"type":"array","items":{"type":"object","required":["old"],"properties":{"old":{"type":"string"}}}},
 "when":{"type":"string","format":"date"},"x":{"anyOf":[{"type":"string"},{"type":"object","required":["a","b"]}]}}}`

// V-SCHEMA-1, V-SCHEMA-2: every finding at once, in our words, in a stable order.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, params, want string }{
		{"passes", `{"path":"x","mode":"a","n":5.0}`, ""},
		{"missing in schema order", `{}`, "missing required parameter 'path' | missing required parameter 'mode'"},
		{"wrong root type said once", `{"path":7,"mode":"a"}`, "parameter 'path' has wrong type: expected string, got number"},
		{"union", `{"path":"x","mode":"a","n":"5"}`, "parameter 'n' has wrong type: expected integer|null, got string"},
		{"unknown parameters in order", `{"path":"x","mode":"a","zz":1,"aa":2}`, "unknown parameter 'aa' | unknown parameter 'zz'"},
		{"enum, pattern and range", `{"path":"X","mode":"c","n":0}`, "parameter 'mode' must be one of \"a\", \"b\" | parameter 'n' must be >= 1 | parameter 'path' must match pattern '^[a-z]'"},
		{"nested", `{"path":"x","mode":"a","edits":[{"old":1},{}]}`, "parameter 'edits/0/old' has wrong type: expected string, got number | parameter 'edits/1' is missing required property 'old'"},
		{"format", `{"path":"x","mode":"a","when":"soon"}`, "parameter 'when' must be a valid date"},
		{"closest alternative", `{"path":"x","mode":"a","x":5}`, "parameter 'x' matches none of its 2 alternatives; closest: parameter 'x' has wrong type: expected string, got number"},
	} {
		s, err := schema.Compile(json.RawMessage(edit))
		if err != nil {
			t.Fatal(err)
		}
		var params map[string]any
		if err := json.Unmarshal([]byte(c.params), &params); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(s.Check(params), " | "); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// V-SCHEMA-2: no value of the call is ever in a message.
func TestValueNeverInMessage(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile(json.RawMessage(edit))
	if err != nil {
		t.Fatal(err)
	}
	findings := s.Check(map[string]any{"path": "SECRET-V", "mode": "SECRET-V", "n": "SECRET-V", "when": "SECRET-V", "x": 1.0, "edits": "SECRET-V"})
	if len(findings) < 5 || slices.ContainsFunc(findings, func(f string) bool { return strings.Contains(f, "SECRET-V") }) {
		t.Errorf("findings: %q", findings)
	}
}

// V-SCHEMA-4: a reference that leaves the document or a pattern RE2 lacks degrades, and the root is still checked.
func TestDegrades(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"remote reference": `{"required":["a"],"properties":{"a":{"$ref":"http://127.0.0.1:1/x.json"}}}`,
		"file reference":   `{"required":["a"],"properties":{"a":{"$ref":"file:///etc/passwd"}}}`,
		"look-around":      `{"required":["a"],"properties":{"a":{"pattern":"(?=x)"}}}`,
	} {
		s, err := schema.Compile(json.RawMessage(raw))
		if err != nil {
			t.Fatal(err)
		}
		if s.Degraded == "" || !slices.Equal(s.Check(map[string]any{}), []string{"missing required parameter 'a'"}) {
			t.Errorf("%s: degraded %q, findings %q", name, s.Degraded, s.Check(map[string]any{}))
		}
	}
}

// V-SCHEMA-5: {} and non-objects constrain nothing, false allows nothing.
func TestNonObjects(t *testing.T) {
	t.Parallel()
	for raw, n := range map[string]int{`{}`: 0, `true`: 0, `"x"`: 0, ``: 0, `false`: 1} {
		s, err := schema.Compile(json.RawMessage(raw))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Check(map[string]any{"any": 1.0}); len(got) != n {
			t.Errorf("schema %q: findings %q", raw, got)
		}
	}
	if _, err := schema.Compile(json.RawMessage(`{`)); err == nil {
		t.Error("broken JSON compiled")
	}
}

// V-SCHEMA-3: one compiled schema serves many goroutines.
func TestSharedByGoroutines(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile(json.RawMessage(edit))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if len(s.Check(map[string]any{"path": "x"})) != 1 {
					t.Error("findings changed")
				}
			}
		})
	}
	wg.Wait()
}
