// Package calculate is the calculate tool: arithmetic, exact where it can be
// (T-CALC). It touches nothing, so its answer may be cached.
//
// A Pratt parser over math/big rationals; a value turns into a float64, and the
// answer is marked approximate, only where a function has no exact result. It
// imports engine/tool and the wire beside it. A new function is a row in functions.
package calculate

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"time"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/wire"
)

const schema = `{
  "type": "object",
  "properties": {
    "expression": {"type": "string", "description": "For example (2 + 3) * 4^2 / 7. Operators + - * / % ^ **, parentheses, pi, e, 1e9, sqrt abs min max round floor ceil log ln exp sin cos tan."}
  },
  "required": ["expression"],
  "additionalProperties": false
}`

type input struct {
	Expression *string `json:"expression"`
}

type output struct {
	// Result is a number where a JSON number holds it exactly, else its digits as a string.
	Result any `json:"result"`
	// Approximate says that Result was rounded to a float64.
	Approximate bool `json:"approximate,omitempty"`
}

type calculate struct{}

// New returns the tool; it is always bound.
func New(tool.Bindings) tool.Tool { return calculate{} }

// Spec says what the tool is.
func (calculate) Spec() tool.Spec {
	return tool.Spec{
		Name: "calculate",
		Description: "Work out an arithmetic expression. Integers and decimals are exact; log is base 10, ln natural, " +
			"angles are radians, % has the sign of its left side, ^ and ** are powers.",
		Parameters: json.RawMessage(schema), Effect: tool.Read, Category: "utility", CacheTTL: time.Hour, Version: "1",
	}
}

// Effects declares nothing: no file, no process, no host.
func (calculate) Effects(call tool.Call) (tool.Effects, error) {
	_, err := parseCall(call)
	return tool.Effects{Declared: true}, err
}

func parseCall(call tool.Call) (string, error) {
	in, err := wire.In[input](call.Params)
	switch {
	case err != nil:
		return "", err
	case in.Expression == nil:
		return "", wire.Bad("missing 'expression' parameter")
	case len(*in.Expression) > maxChars:
		return "", wire.Bad("the expression has %d characters, %d at most; work it out in steps", len(*in.Expression), maxChars)
	}
	return *in.Expression, nil
}

// Run works the expression out.
func (calculate) Run(_ context.Context, call tool.Call, _ tool.Env) (tool.Execution, error) {
	text, err := parseCall(call)
	if err != nil {
		return tool.Execution{}, err
	}
	v, err := evaluate(text)
	if err != nil {
		return tool.Execution{}, wire.Bad("%v", err)
	}
	result, approximate := v.render()
	o, err := wire.Out(output{Result: result, Approximate: approximate})
	if err != nil {
		return tool.Execution{}, err
	}
	shown := strconv.Quote(text)
	if s, ok := result.(string); ok {
		shown = s
	} else if f, ok := result.(float64); ok {
		shown = strconv.FormatFloat(f, 'g', -1, 64)
	}
	return tool.Execution{Output: o, Blocks: []ir.Block{{Kind: ir.BlockText, Title: text, Text: shown}}}, nil
}

// render gives a JSON number where it says exactly the value, else the digits.
func (v value) render() (result any, approximate bool) {
	if v.exact == nil {
		return number(v.float), true
	}
	if v.exact.IsInt() {
		if n := v.exact.Num(); n.IsInt64() && abs(n.Int64()) < 1<<53 {
			return float64(n.Int64()), false
		}
		return v.exact.Num().String(), false
	}
	digits, finite := v.exact.FloatPrec()
	if !finite || digits > maxDigits {
		f, _ := v.exact.Float64()
		return number(f), true
	}
	text := v.exact.FloatString(digits)
	f, _ := v.exact.Float64()
	if strconv.FormatFloat(f, 'f', -1, 64) == text {
		return f, false
	}
	return text, false
}

// number keeps integers that JSON numbers cannot hold exactly out of them (E-JCS-2).
func number(f float64) any {
	if math.Abs(f) >= 1<<53 {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return f
}

func abs(n int64) int64 { return max(n, -n) }
