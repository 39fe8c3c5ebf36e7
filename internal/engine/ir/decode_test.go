package ir_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"car/internal/engine/ir"
)

var testTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// testDefaults hands out ids that count from 1, at a fixed time.
func testDefaults() ir.Defaults {
	n := 0
	return ir.Defaults{
		NewID: func() string { n++; return fmt.Sprintf("%012x", n) },
		Now:   func() time.Time { return testTime },
	}
}

func mustDecode(t testing.TB, text string) ir.Proposal {
	t.Helper()
	p, err := ir.DecodeProposal([]byte(text), testDefaults())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// E-IR-1: what a proposal leaves out is filled at decode.
func TestDecodeFillsEveryDefault(t *testing.T) {
	t.Parallel()
	got := mustDecode(t, `{"actions":[{"type":"tool_call","tool":"read_file","preconditions":[{"key":"k"}]}]}`)
	want := ir.Proposal{
		ID: "000000000001", Source: "unknown", Timestamp: testTime, Context: map[string]any{},
		Actions: []ir.Action{{
			ID: "000000000002", Type: ir.ToolCall, Tool: "read_file",
			Parameters: map[string]any{}, ExpectedEffects: map[string]any{}, StateDependencies: []string{}, Metadata: map[string]any{},
			Preconditions:  []ir.Precondition{{Key: "k", Operator: "eq"}},
			InvocationMode: ir.OneShot, Reversibility: ir.Irreversible, MaxRetries: 3, FailureBehavior: ir.Abort,
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("decoded proposal (-want +got):\n%s", diff)
	}
}

// E-IR-1: null is absent; zero is not.
func TestDecodeTellsAbsentFromZero(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]uint32{`"max_retries":0`: 0, `"max_retries":null`: 3, `"x":1`: 3, `"max_retries":4294967295`: 4294967295} {
		if got := mustDecode(t, `{"actions":[{"type":"state_read",`+text+`}]}`).Actions[0].MaxRetries; got != want {
			t.Errorf("%s: max_retries %d, want %d", text, got, want)
		}
	}
}

const fullProposal = `{
  "id": "p1", "source": "model", "timestamp": "2026-01-02T04:04:05+01:00", "context": {"n": 1},
  "actions": [{
    "id": "a1", "type": "tool_call", "tool": "deploy", "parameters": {"b": [1, {"z": null}], "a": "x"},
    "preconditions": [{"key": "ready", "operator": "neq", "value": null, "description": "must be ready"}],
    "expected_effects": {"done": true}, "state_dependencies": ["ready"], "dependencies": ["a2"], "after": ["a3"],
    "read_set": ["r"], "write_set": ["w"],
    "assumptions": [{"key": "k", "expected_value": null}, {"key": "v", "read_version": 7}, {"key": "u"}],
    "invocation_mode": "long_running", "reversibility": "compensable",
    "compensation": {"type": "tool", "tool": "undeploy", "parameters": {"id": 1}},
    "idempotent": true, "max_retries": 1, "failure_behavior": "retry", "timeout_ms": 1500, "metadata": {"m": 1}
  },
  {"id": "a2", "type": "state_write", "failure_behavior": "skip", "compensation": {"type": "action_ref", "action_id": "a3"}},
  {"id": "a3", "type": "assertion"}]
}`

// E-IR-1, E-IR-3: every member arrives where it belongs.
func TestDecodeReadsEveryMember(t *testing.T) {
	t.Parallel()
	version, null := uint64(7), any(nil)
	want := ir.Action{
		ID: "a1", Type: ir.ToolCall, Tool: "deploy", Parameters: map[string]any{"b": []any{1.0, map[string]any{"z": nil}}, "a": "x"},
		Preconditions:   []ir.Precondition{{Key: "ready", Operator: "neq", Description: "must be ready"}},
		ExpectedEffects: map[string]any{"done": true}, StateDependencies: []string{"ready"},
		Dependencies: []ir.ActionID{"a2"}, After: []ir.ActionID{"a3"}, ReadSet: []string{"r"}, WriteSet: []string{"w"},
		Assumptions:    []ir.Assumption{{Key: "k", ExpectedValue: &null}, {Key: "v", ReadVersion: &version}, {Key: "u"}},
		InvocationMode: ir.LongRunning, Reversibility: ir.Compensable,
		Compensation: &ir.Compensation{Type: "tool", Tool: "undeploy", Parameters: map[string]any{"id": 1.0}},
		Idempotent:   true, MaxRetries: 1, FailureBehavior: ir.Retry, TimeoutMS: 1500, Metadata: map[string]any{"m": 1.0},
	}
	p := mustDecode(t, fullProposal)
	if diff := cmp.Diff(want, p.Actions[0]); diff != "" {
		t.Errorf("decoded action (-want +got):\n%s", diff)
	}
	if p.ID != "p1" || p.Source != "model" || !p.Timestamp.Equal(testTime) || p.Timestamp.Location() != time.UTC {
		t.Errorf("header: %s %s %v", p.ID, p.Source, p.Timestamp)
	}
	if c := p.Actions[1].Compensation; c == nil || c.ActionID != "a3" {
		t.Errorf("action_ref compensation: %+v", c)
	}
}

// Named behaviour "defaults round-trip": decoding what was encoded changes nothing,
// its digest included.
func TestDecodedProposalRoundTrips(t *testing.T) {
	t.Parallel()
	for _, text := range []string{fullProposal, `{"actions":[]}`, `{"actions":[{"type":"assertion"}]}`} {
		first := mustDecode(t, text)
		encoded, err := json.Marshal(first)
		if err != nil {
			t.Fatal(err)
		}
		second, err := ir.DecodeProposal(encoded, ir.Defaults{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("second reading (-first +second):\n%s", diff)
		}
		if a, b := mustDigest(t, first), mustDigest(t, second); a != b {
			t.Errorf("digest %s became %s", a, b)
		}
	}
}

func mustDigest(t testing.TB, p ir.Proposal) ir.Digest {
	t.Helper()
	d, err := p.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// E-IR-1: unknown members are ignored, and a name in another case is unknown.
func TestDecodeIgnoresUnknownMembers(t *testing.T) {
	t.Parallel()
	p := mustDecode(t, `{"future":{"x":[1]},"ID":"no","actions":[{"type":"state_read","Tool":"no","colour":"red"}]}`)
	if p.ID == "no" || p.Actions[0].Tool != "" {
		t.Errorf("a member in another case was taken: %+v", p)
	}
}

// E-IR-1, E-IR-3, E-JCS-2: what is refused, and where the message points.
func TestDecodeRefusals(t *testing.T) {
	t.Parallel()
	action := func(members string) string { return `{"actions":[{"type":"tool_call","id":"a",` + members + `}]}` }
	for _, c := range []struct{ name, text, want string }{
		{"no actions", `{}`, "actions: required"},
		{"null actions", `{"actions":null}`, "actions: required"},
		{"actions no list", `{"actions":{}}`, "actions: object does not fit, an array is needed"},
		{"not an object", `[]`, "an object is needed"},
		{"not JSON", `{"actions":[`, "not JSON: unexpected end of JSON input"},
		{"empty", ``, "not JSON: unexpected end of JSON input"},
		{"trailing text", `{"actions":[]} x`, "not JSON"},
		{"type missing", `{"actions":[{}]}`, "actions[0].type: required"},
		{"type unknown", `{"actions":[{"type":"state_read"},{"type":"exec"}]}`, `actions[1].type: unknown action type "exec" (one of tool_call, state_write, state_read, assertion)`},
		{"mode unknown", action(`"invocation_mode":"later"`), `actions[0].invocation_mode: unknown invocation_mode "later"`},
		{"reversibility unknown", action(`"reversibility":"maybe"`), `actions[0].reversibility: unknown reversibility "maybe"`},
		{"failure unknown", action(`"failure_behavior":"Abort"`), `actions[0].failure_behavior: unknown failure_behavior "Abort"`},
		{"enum number", action(`"failure_behavior":1`), "actions[0].failure_behavior: "},
		{"action no object", `{"actions":[3]}`, "actions[0]: an object is needed"},
		{"retries negative", action(`"max_retries":-1`), "actions[0].max_retries: number -1 does not fit, a whole number that fits uint32 is needed"},
		{"retries too many", action(`"max_retries":4294967296`), "actions[0].max_retries: number 4294967296"},
		{"retries fraction", action(`"max_retries":1.5`), "actions[0].max_retries: number 1.5"},
		{"parameters list", action(`"parameters":[]`), "actions[0].parameters: array does not fit, an object is needed"},
		{"ids no strings", action(`"dependencies":[1]`), "actions[0].dependencies: number does not fit, a string is needed"},
		{"idempotent text", action(`"idempotent":"yes"`), "actions[0].idempotent: string does not fit, true or false is needed"},
		{"precondition key", action(`"preconditions":[{"operator":"eq"}]`), "actions[0].preconditions[0].key: required"},
		{"assumption key", action(`"assumptions":[{"key":"k"},{}]`), "actions[0].assumptions[1].key: required"},
		{"compensation kind", action(`"compensation":{"type":"prayer"}`), `actions[0].compensation.type: unknown compensation "prayer" (one of tool, action_ref)`},
		{"compensation tool", action(`"compensation":{"type":"tool"}`), "actions[0].compensation.tool: required"},
		{"compensation action", action(`"compensation":{"type":"action_ref"}`), "actions[0].compensation.action_id: required"},
		{"compensation no kind", action(`"compensation":{"type":""}`), "actions[0].compensation.type: empty, a name is needed"},
		{"compensation no tool", action(`"compensation":{"type":"tool","tool":""}`), "actions[0].compensation.tool: empty, a name is needed"},
		{"compensation no action", action(`"compensation":{"type":"action_ref","action_id":""}`), "actions[0].compensation.action_id: empty, a name is needed"},
		{"bad time", `{"timestamp":"yesterday","actions":[]}`, `timestamp: "yesterday" is no RFC 3339 time`},
		{"duplicate name", action(`"parameters":{"a":1,"a":2}`), `actions[0].parameters: duplicate name "a"`},
		{"duplicate by escape", action(`"parameters":{"a":1,"\u0061":2}`), `actions[0].parameters: duplicate name "a"`},
		{"duplicate in unknown", `{"x":{"b":1,"b":1},"actions":[]}`, `x: duplicate name "b"`},
		{"big integer", action(`"parameters":{"odd key":[0,9007199254740992]}`), `actions[0].parameters["odd key"][1]: integer 9007199254740992 is beyond`},
		{"lone surrogate", action(`"metadata":{"s":"\ud800"}`), `actions[0].metadata.s: lone surrogate \ud800`},
		{"invalid UTF-8", action("\"metadata\":{\"s\":\"\xff\"}"), "actions[0].metadata.s: invalid UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := ir.DecodeProposal([]byte(c.text), testDefaults())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
}

// Style 3.3: a model is told all its mistakes at once, each with its path.
func TestDecodeReportsEveryProblem(t *testing.T) {
	t.Parallel()
	_, err := ir.DecodeProposal([]byte(`{"actions":[{"type":"x"},{"type":"y","tool":1}]}`), testDefaults())
	for _, path := range []string{"actions[0].type", "actions[1].type", "actions[1].tool"} {
		if err == nil || !strings.Contains(err.Error(), path+": ") {
			t.Errorf("error does not name %s: %v", path, err)
		}
	}
	var at *ir.PathError
	if !errors.As(err, &at) || at.Path != "actions[0].type" {
		t.Errorf("first problem is %+v", at)
	}
	many := `{"actions":[` + strings.Repeat(`{"type":"x"},`, 500) + `{}]}`
	if _, err := ir.DecodeProposal([]byte(many), testDefaults()); strings.Count(err.Error(), "\n") > 20 {
		t.Errorf("%d lines of problems", strings.Count(err.Error(), "\n"))
	}
}

// E-IR-1: a proposal built in Go is filled like a decoded one, its maker's slices
// are left alone, and filling again changes nothing.
func TestFill(t *testing.T) {
	t.Parallel()
	built := ir.Proposal{Actions: []ir.Action{{Type: ir.ToolCall, MaxRetries: 3, Preconditions: []ir.Precondition{{Key: "k"}}, Tool: "read_file"}}}
	filled := built.Fill(testDefaults())
	decoded := mustDecode(t, `{"actions":[{"type":"tool_call","tool":"read_file","preconditions":[{"key":"k"}]}]}`)
	if diff := cmp.Diff(decoded, filled); diff != "" {
		t.Errorf("filled differs from decoded (-decoded +filled):\n%s", diff)
	}
	if built.Actions[0].ID != "" || built.Actions[0].Preconditions[0].Operator != "" {
		t.Errorf("the maker's own proposal changed: %+v", built.Actions[0])
	}
	if diff := cmp.Diff(filled, filled.Fill(testDefaults())); diff != "" {
		t.Errorf("filling twice (-once +twice):\n%s", diff)
	}
}

// E-IR-3: compensable without a way decodes and is reported.
func TestMissingRequiredCompensation(t *testing.T) {
	t.Parallel()
	a := mustDecode(t, `{"actions":[{"type":"tool_call","reversibility":"compensable"}]}`).Actions[0]
	if !a.MissingRequiredCompensation() {
		t.Error("compensable without compensation is not reported")
	}
	a.Reversibility = ir.Reversible
	if a.MissingRequiredCompensation() {
		t.Error("reversible needs no compensation")
	}
}

// E-IR-1, Q-TEST-5: no text makes the decoder panic, and what it accepts has a
// digest, survives its own encoding and sorts or says why not.
func FuzzDecodeProposal(f *testing.F) {
	seeds, err := os.ReadFile("testdata/proposals.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(seeds)) {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ir.DecodeProposal(data, testDefaults())
		if err != nil {
			return
		}
		digest, err := p.Digest()
		if err != nil {
			t.Fatalf("accepted without a digest: %v", err)
		}
		encoded, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ir.DecodeProposal(encoded, ir.Defaults{})
		if err != nil {
			t.Fatalf("own encoding refused: %v\n%s", err, encoded)
		}
		if second := mustDigest(t, again); second != digest {
			t.Fatalf("digest %s became %s over %s", digest, second, encoded)
		}
		if levels, err := ir.Levels(p.Actions); err == nil && countLevels(levels) != len(p.Actions) {
			t.Fatalf("%d actions in levels, %d in the proposal", countLevels(levels), len(p.Actions))
		}
	})
}

func countLevels(levels [][]int) int {
	n := 0
	for _, level := range levels {
		n += len(level)
	}
	return n
}
