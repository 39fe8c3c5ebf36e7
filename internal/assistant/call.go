package assistant

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"car/internal/assistant/llm"
	"car/internal/engine/ir"
)

// call is one tool call of a step.
type call struct {
	*llm.ToolCall
	id       ir.ActionID
	sequence int
	tool     Tool
	params   map[string]any
	// refusal is set when the call never reaches the engine.
	refusal *ir.ActionResult
}

// plan reads the calls of a step: which tool, with which parameters. What cannot
// be read is refused with what would help, and the others go on.
func (r *run) plan(calls []*call) []*call {
	for _, c := range calls {
		if err := r.read(c); err != nil {
			c.refusal = &ir.ActionResult{ActionID: c.id, Status: ir.Rejected, Error: err.Error(), ErrorClass: ir.ClassValidation}
		}
	}
	return calls
}

// read finds the tool and the parameters of a call (A-LOOP-6, A-LOOP-7).
func (r *run) read(c *call) error {
	tools := r.c.runtime.Tools
	i := slices.IndexFunc(tools, func(t Tool) bool { return t.Schema.Name == c.Name })
	if i < 0 {
		return fmt.Errorf("unknown tool: %s%s", strconv.Quote(clip(c.Name, 80)), nearest(c.Name, tools))
	}
	c.tool = tools[i]
	params, err := llm.ParseArguments(c.Arguments)
	var bad *llm.ArgumentError
	if errors.As(err, &bad) {
		return fmt.Errorf("%w; the call was not run%s", bad, requiredText(c.tool))
	}
	if err != nil {
		return err
	}
	c.params = asIntegers(params, c.tool.Schema.Parameters)
	return nil
}

// schemaView is what the loop itself reads of a tool's schema.
type schemaView struct {
	Required   []string `json:"required"`
	Properties map[string]struct {
		Type any `json:"type"`
	} `json:"properties"`
}

func viewSchema(raw json.RawMessage) schemaView {
	var v schemaView
	if err := json.Unmarshal(raw, &v); err != nil { // the engine judges schemas; without one there is nothing to read
		return schemaView{}
	}
	return v
}

func requiredText(t Tool) string {
	v := viewSchema(t.Schema.Parameters)
	if len(v.Required) == 0 {
		return ". Send the call again with one JSON object"
	}
	return fmt.Sprintf(". Send the call again with one JSON object; %s needs %s", t.Schema.Name, strings.Join(v.Required, ", "))
}

// asIntegers reads "5" as 5 where the schema asks for an integer, and nowhere else (A-LOOP-8).
func asIntegers(params map[string]any, schema json.RawMessage) map[string]any {
	for name, p := range viewSchema(schema).Properties {
		text, ok := params[name].(string)
		if !ok || p.Type != "integer" {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err == nil && math.Abs(float64(n)) <= 1<<53-1 && strconv.FormatInt(n, 10) == text {
			params[name] = float64(n)
		}
	}
	return params
}

// nearest names the three tools whose names are most like the one that is not there.
func nearest(name string, tools []Tool) string {
	if len(tools) == 0 {
		return "; no tools are available"
	}
	type candidate struct {
		name     string
		distance int
	}
	all := make([]candidate, len(tools))
	for i, t := range tools {
		all[i] = candidate{t.Schema.Name, distance(clip(name, 80), t.Schema.Name)}
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	names := make([]string, 0, 3)
	for _, c := range all[:min(3, len(all))] {
		names = append(names, c.name)
	}
	return "; the nearest are " + strings.Join(names, ", ")
}

// distance is how many letters have to change to make one name of the other. A
// name that holds the other is near whatever its length.
func distance(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if strings.Contains(a, b) || strings.Contains(b, a) {
		return 0
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// toolset is what the model is told of the tools: sorted, the same for every
// request of the session (A-CTX-4).
func (c *Conversation) toolset() []llm.Tool {
	tools := make([]llm.Tool, len(c.runtime.Tools))
	for i, t := range c.runtime.Tools {
		tools[i] = llm.Tool{Name: t.Schema.Name, Description: t.Schema.Description, Parameters: t.Schema.Parameters}
	}
	slices.SortFunc(tools, func(a, b llm.Tool) int { return cmp.Compare(a.Name, b.Name) })
	return tools
}
