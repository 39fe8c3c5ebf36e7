package subprocess

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/foreign"
	"car/internal/tools/wire"
)

// requestID is the id of the one request that a process gets.
const requestID = 1

// requestOf is one line.
func requestOf(method string, params map[string]any) ([]byte, error) {
	if params == nil {
		params = map[string]any{}
	}
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": method, "params": params, "id": requestID})
	return append(line, '\n'), err
}

// response is a JSON-RPC response. Its members are raw, so that one that is null is
// told from one that is absent.
type response struct {
	Version string          `json:"jsonrpc"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
	ID      json.RawMessage `json:"id"`
}

// resultOf reads what a program answered. A process that did not end well has no
// result, whatever it printed.
func resultOf(a tool.Answer) (any, error) {
	text, r, found := find(a.Stdout)
	switch {
	case found && hasError(r):
		return nil, peerError(r.Error)
	case a.Signal != "":
		return nil, fmt.Errorf("the program was ended by %s", a.Signal)
	case a.Code != 0:
		return nil, fmt.Errorf("the program exited with code %d", a.Code)
	case !found && len(bytes.TrimSpace(a.Stdout)) == 0:
		return nil, errors.New("the program ended without an answer on stdout")
	case !found:
		return nil, fmt.Errorf("no JSON-RPC response in the %d bytes that the program printed, which begin %q", len(a.Stdout), beginning(a.Stdout))
	}
	if err := ir.CheckText(text); err != nil {
		return nil, wire.Fault(tool.BadOutput, "%v", err)
	}
	var result any
	err := json.Unmarshal(r.Result, &result)
	return result, err
}

// find takes the first line that is a response; without one, all that is printed
// from the first line on that begins an object, for programs that print on many lines.
func find(stdout []byte) (text []byte, r response, found bool) {
	block := -1
	at := 0
	for line := range bytes.Lines(stdout) {
		if trimmed := bytes.TrimSpace(line); len(trimmed) > 0 && trimmed[0] == '{' {
			if r, ok := decode(trimmed); ok {
				return trimmed, r, true
			}
			if block < 0 && !json.Valid(trimmed) {
				block = at
			}
		}
		at += len(line)
	}
	if block < 0 {
		return nil, r, false
	}
	text = bytes.TrimSpace(stdout[block:])
	r, found = decode(text)
	return text, r, found
}

// decode accepts an object with a result or an error that answers our request, or
// that does not say which it answers.
func decode(text []byte) (response, bool) {
	var r response
	if json.Unmarshal(text, &r) != nil || r.Version != "" && r.Version != "2.0" {
		return r, false
	}
	if id := string(r.ID); id != "" && id != "null" && id != fmt.Sprint(requestID) {
		return r, false
	}
	return r, r.Result != nil || hasError(r)
}

func hasError(r response) bool { return len(r.Error) > 0 && string(r.Error) != "null" }

// peerError is the failure that a program states itself.
func peerError(raw json.RawMessage) error {
	var e struct {
		Code    *int64 `json:"code"`
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &e) != nil || e.Message == "" {
		e.Message = string(raw)
	}
	message := strings.Join(strings.Fields(foreign.Description(e.Message)), " ")
	if e.Code != nil {
		return fmt.Errorf("%s (code %d)", message, *e.Code)
	}
	return errors.New(message)
}

// beginning is what a person recognises the output by.
func beginning(stdout []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(stdout), []byte("\n"))
	return strings.ToValidUTF8(string(line[:min(len(line), 120)]), "")
}

// openEnvelope takes a result apart that has to be {output, state_changes} and
// nothing else (E-EXEC-7). Which keys may change is the engine's to compare. The
// failures are plain: their words are what their class is read from (E-FAIL-4).
func openEnvelope(name string, result any) (tool.Execution, error) {
	envelope, ok := result.(map[string]any)
	output, hasOutput := envelope["output"]
	stated, hasChanges := envelope["state_changes"]
	if !ok || !hasOutput || !hasChanges || len(envelope) != 2 {
		return tool.Execution{}, fmt.Errorf("tool '%s' must return exact envelope {output,state_changes}", name)
	}
	list, ok := stated.(map[string]any)
	if !ok {
		return tool.Execution{}, fmt.Errorf("tool '%s' state_changes must be an object", name)
	}
	changes := make(map[string]ir.StateChange, len(list))
	for key, v := range list {
		change, ok := changeOf(v)
		if !ok {
			return tool.Execution{}, fmt.Errorf(`tool '%s' state_changes must be an object of {"op":"set","value":…} or {"op":"delete"}`, name)
		}
		changes[key] = change
	}
	return tool.Execution{Output: output, StateChanges: changes}, nil
}

// changeOf reads a tagged change, so that null and deletion differ (F-1).
func changeOf(v any) (ir.StateChange, bool) {
	m, ok := v.(map[string]any)
	value, hasValue := m["value"]
	switch {
	case ok && m["op"] == "set" && hasValue && len(m) == 2:
		return ir.StateChange{Op: "set", Value: value}, true
	case ok && m["op"] == "delete" && len(m) == 1:
		return ir.StateChange{Op: "delete"}, true
	default:
		return ir.StateChange{}, false
	}
}
