package tooltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
)

// Case says how a tool is exercised by Suite.
type Case struct {
	Tool tool.Tool
	// Good are parameters that the schema accepts and that can run in House, in
	// order; Bad are ones that schema or Effects must refuse.
	Good []map[string]any
	Bad  []map[string]any
	// Slow are parameters of a call that only cancel ends; nil when no call is slow.
	Slow map[string]any
	// House is where the calls run; Prepare may fill it.
	House *House
}

// Suite holds a tool to what every tool promises (T-SET-1, 8, 9).
func Suite(t *testing.T, c Case) {
	t.Helper()
	spec := c.Tool.Spec()
	schema := compile(t, spec)
	t.Run("spec", func(t *testing.T) { checkSpec(t, spec) })
	t.Run("good parameters are declared and run", func(t *testing.T) {
		for _, params := range c.Good {
			checkGood(t, c, schema, params)
		}
	})
	t.Run("bad parameters are refused", func(t *testing.T) {
		for _, params := range append(c.Bad, map[string]any{"no_such_parameter": true}) {
			call := tool.Call{Tool: spec.Name, Params: params}
			_, err := c.Tool.Effects(call)
			if schema.Validate(plain(t, params)) == nil && err == nil {
				t.Errorf("%v passed schema and Effects", params)
			}
			if err := panics(func() { _, _ = c.Tool.Run(t.Context(), call, c.House.Env()) }); err != nil {
				t.Errorf("%v: %v", params, err)
			}
		}
	})
	t.Run("cancel ends a call", func(t *testing.T) { checkCancel(t, c) })
}

func compile(t *testing.T, spec tool.Spec) *jsonschema.Schema {
	t.Helper()
	var doc any
	if err := json.Unmarshal(spec.Parameters, &doc); err != nil {
		t.Fatalf("%s: parameters are not JSON: %v", spec.Name, err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("car:///"+spec.Name, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("car:///" + spec.Name)
	if err != nil {
		t.Fatalf("%s: %v", spec.Name, err)
	}
	return s
}

func checkSpec(t *testing.T, spec tool.Spec) {
	if !regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`).MatchString(spec.Name) {
		t.Errorf("name %q is no wire name (T-SET-5)", spec.Name)
	}
	if spec.Description == "" || spec.Category == "" || spec.Version == "" {
		t.Errorf("%s: description, category and version are needed", spec.Name)
	}
	var s struct {
		Type       string                     `json:"type"`
		Additional *bool                      `json:"additionalProperties"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(spec.Parameters, &s); err != nil || s.Type != "object" || s.Additional == nil || *s.Additional {
		t.Errorf("%s: the schema must be an object with additionalProperties false", spec.Name)
	}
	if len(spec.Parameters) > 16<<10 {
		t.Errorf("%s: schema of %d bytes", spec.Name, len(spec.Parameters))
	}
	for name, p := range s.Properties {
		var d struct {
			Description string `json:"description"`
		}
		if json.Unmarshal(p, &d) != nil || d.Description == "" {
			t.Errorf("%s: property %s says nothing about itself", spec.Name, name)
		}
	}
}

func checkGood(t *testing.T, c Case, schema *jsonschema.Schema, params map[string]any) {
	t.Helper()
	if err := schema.Validate(plain(t, params)); err != nil {
		t.Errorf("%v: %v", params, err)
	}
	call := tool.Call{Tool: c.Tool.Spec().Name, Params: params, Session: c.House.Session, Attempt: 1}
	e, err := c.Tool.Effects(call)
	if err != nil || !e.Declared {
		t.Errorf("%v: effects %+v %v", params, e, err)
	}
	if c.Tool.Spec().Effect == tool.Read && !e.OnlyReads() {
		t.Errorf("%v: a tool that only reads declares %+v", params, e)
	}
	if p, ok := c.Tool.(tool.Previewer); ok {
		if _, err := p.Preview(t.Context(), call, c.House.Env().Files); err != nil {
			t.Errorf("%v: preview: %v", params, err)
		}
	}
	ran, err := c.House.Run(t.Context(), c.Tool, params)
	if err != nil {
		t.Errorf("%v: %v", params, err)
		return
	}
	if err := ir.CheckValue(ran.Output); err != nil {
		t.Errorf("%v: output is not I-JSON: %v", params, err)
	}
	if data, _ := json.Marshal(ran.Output); len(data) > 1<<20 {
		t.Errorf("%v: output of %d bytes (T-SET-9)", params, len(data))
	}
}

// checkCancel runs calls under a context that has ended, and one that ends.
func checkCancel(t *testing.T, c Case) {
	t.Helper()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, params := range c.Good {
		if err := panics(func() { _, _ = c.House.Run(gone, c.Tool, params) }); err != nil {
			t.Errorf("%v: %v", params, err)
		}
	}
	if c.Slow == nil {
		return
	}
	ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		_, err := c.House.Run(ctx, c.Tool, c.Slow)
		ended <- err
	}()
	limit := time.NewTimer(3200 * time.Millisecond)
	defer limit.Stop()
	select {
	case err := <-ended:
		if err == nil {
			t.Errorf("%v: a canceled call succeeded", c.Slow)
		}
	case <-limit.C:
		t.Errorf("%v: still running 3 s after cancel (T-SET-9)", c.Slow)
		<-ended
	}
}

func panics(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("panic: " + fmt.Sprint(p))
		}
	}()
	f()
	return nil
}

// plain brings parameters into the form a decoder would give a validator.
func plain(t *testing.T, params map[string]any) any {
	t.Helper()
	data, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
