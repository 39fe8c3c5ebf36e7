package ir

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"
)

// DecodeProposal reads a proposal from JSON and fills the defaults once, so that
// the filled value is what is digested, logged and run (E-IR-1). An absent or
// null member takes its default; unknown members are ignored; member names are
// exact. The text must be I-JSON (E-JCS-2). Every problem is reported with its
// path, as *PathError values joined.
func DecodeProposal(data []byte, d Defaults) (Proposal, error) {
	if err := CheckText(data); err != nil {
		return Proposal{}, fmt.Errorf("decode proposal: %w", err)
	}
	var dec decoder
	p := dec.proposal(data)
	if err := errors.Join(dec.problems...); err != nil {
		return Proposal{}, fmt.Errorf("decode proposal: %w", err)
	}
	return p.Fill(d), nil
}

// maxProblems bounds how many problems one decoding reports.
const maxProblems = 20

// decoder collects problems while it reads.
type decoder struct{ problems []error }

func (d *decoder) fail(path, problem string) {
	if len(d.problems) < maxProblems {
		d.problems = append(d.problems, &PathError{Path: path, Problem: problem})
	}
}

// object is one JSON object with the path it stands at.
type object struct {
	*decoder
	path    string
	members map[string]json.RawMessage
}

func (d *decoder) object(path string, raw json.RawMessage) object {
	o := object{decoder: d, path: path}
	if json.Unmarshal(raw, &o.members) != nil || o.members == nil {
		d.fail(path, "an object is needed")
	}
	return o
}

// has returns a member that is there and not null.
func (o object) has(name string) (json.RawMessage, bool) {
	raw, ok := o.members[name]
	return raw, ok && string(raw) != "null"
}

// read decodes a member into into, leaving it alone when absent or null.
func (o object) read(name string, into any) bool {
	raw, ok := o.has(name)
	if !ok {
		return false
	}
	if err := json.Unmarshal(raw, into); err != nil {
		o.fail(joinPath(o.path, name), problemOf(err))
	}
	return true
}

// require is read for a member that must be there.
func (o object) require(name string, into any) {
	if o.members != nil && !o.read(name, into) {
		o.fail(joinPath(o.path, name), "required")
	}
}

// requireName is require for a member that names something: an empty text names
// nothing, and would be lost where empty members are left out.
func requireName[T ~string](o object, name string, into *T) {
	o.require(name, into)
	if _, present := o.members[name]; present && *into == "" {
		o.fail(joinPath(o.path, name), "empty, a name is needed")
	}
}

// list returns the elements of an array member with their paths.
func (o object) list(name string) ([]json.RawMessage, []string) {
	var items []json.RawMessage
	o.read(name, &items)
	paths := make([]string, len(items))
	for i := range items {
		paths[i] = joinPath(joinPath(o.path, name), indexPath(i))
	}
	return items, paths
}

// problemOf words a decoding error without Go's own type names.
func problemOf(err error) string {
	var mismatch *json.UnmarshalTypeError
	if !errors.As(err, &mismatch) {
		return err.Error()
	}
	return fmt.Sprintf("%s does not fit, %s is needed", mismatch.Value, neededWord(mismatch.Type.Kind()))
}

func neededWord(kind reflect.Kind) string {
	switch kind {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "an array"
	case reflect.Uint32, reflect.Uint64:
		return fmt.Sprintf("a whole number that fits %s", kind)
	}
	return "an object"
}

func (d *decoder) proposal(data []byte) Proposal {
	var p Proposal
	o := d.object("", data)
	o.read("id", &p.ID)
	o.read("source", &p.Source)
	o.instant("timestamp", &p.Timestamp)
	o.read("context", &p.Context)
	if _, ok := o.has("actions"); !ok && o.members != nil {
		d.fail("actions", "required")
	}
	items, paths := o.list("actions")
	for i, raw := range items {
		p.Actions = append(p.Actions, d.action(paths[i], raw))
	}
	return p
}

func (o object) instant(name string, into *time.Time) {
	var text string
	if !o.read(name, &text) || text == "" {
		return
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		o.fail(joinPath(o.path, name), fmt.Sprintf("%q is no RFC 3339 time", text))
	}
	*into = t
}

func (d *decoder) action(path string, raw json.RawMessage) Action {
	a := Action{MaxRetries: defaultMaxRetries}
	o := d.object(path, raw)
	o.read("id", &a.ID)
	o.require("type", &a.Type)
	o.read("tool", &a.Tool)
	o.read("parameters", &a.Parameters)
	o.read("expected_effects", &a.ExpectedEffects)
	o.read("state_dependencies", &a.StateDependencies)
	o.read("dependencies", &a.Dependencies)
	o.read("after", &a.After)
	o.read("read_set", &a.ReadSet)
	o.read("write_set", &a.WriteSet)
	o.read("invocation_mode", &a.InvocationMode)
	o.read("reversibility", &a.Reversibility)
	o.read("idempotent", &a.Idempotent)
	o.read("max_retries", &a.MaxRetries)
	o.read("failure_behavior", &a.FailureBehavior)
	o.read("timeout_ms", &a.TimeoutMS)
	o.read("metadata", &a.Metadata)
	items, paths := o.list("preconditions")
	for i, raw := range items {
		a.Preconditions = append(a.Preconditions, d.precondition(paths[i], raw))
	}
	items, paths = o.list("assumptions")
	for i, raw := range items {
		a.Assumptions = append(a.Assumptions, d.assumption(paths[i], raw))
	}
	if raw, ok := o.has("compensation"); ok {
		a.Compensation = d.compensation(joinPath(path, "compensation"), raw)
	}
	return a
}

func (d *decoder) precondition(path string, raw json.RawMessage) Precondition {
	c := Precondition{Operator: defaultOperator}
	o := d.object(path, raw)
	o.require("key", &c.Key)
	o.read("operator", &c.Operator)
	o.read("value", &c.Value)
	o.read("description", &c.Description)
	return c
}

// assumption keeps an expected null apart from no expectation.
func (d *decoder) assumption(path string, raw json.RawMessage) Assumption {
	var a Assumption
	o := d.object(path, raw)
	o.require("key", &a.Key)
	if _, ok := o.members["expected_value"]; ok {
		a.ExpectedValue = new(any)
		o.read("expected_value", a.ExpectedValue)
	}
	o.read("read_version", &a.ReadVersion)
	return a
}

func (d *decoder) compensation(path string, raw json.RawMessage) *Compensation {
	var c Compensation
	o := d.object(path, raw)
	requireName(o, "type", &c.Type)
	switch c.Type {
	case CompensateByTool:
		requireName(o, "tool", &c.Tool)
		o.read("parameters", &c.Parameters)
	case CompensateByAction:
		requireName(o, "action_id", &c.ActionID)
	case "":
	default:
		d.fail(joinPath(path, "type"), fmt.Sprintf("unknown compensation %q (one of %s, %s)", c.Type, CompensateByTool, CompensateByAction))
	}
	return &c
}
