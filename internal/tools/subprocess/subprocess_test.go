package subprocess_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/subprocess"
)

// E-TOOL-2: one request in, one response out; models see the cleaned name and the
// program is asked by its own (T-SET-3); other names go to the executor before.
func TestAsks(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.register(t, "echo", func(d *subprocess.Definition) { d.Name = "echo\u200b" })
	got := h.call(t, t.Context(), "echo", map[string]any{"x": []any{1.0, nil, "<é>"}}, "")
	want := map[string]any{"method": "echo\u200b", "params": map[string]any{"x": []any{1.0, nil, "<é>"}}}
	if got.Status != ir.Succeeded || !ir.Equal(got.Output, want) {
		t.Errorf("got %+v", got)
	}
	if got := h.call(t, t.Context(), "other", nil, ""); got.Output != "behind" {
		t.Errorf("the executor before: %+v", got)
	}
	started := h.log.Query(eventlog.Query{Kinds: []eventlog.Kind{eventlog.ActionExecuting}, ProposalID: "p1"})
	if len(started) != 1 || started[0].Data["tool_source"] != "subprocess" || started[0].Data["effect_id"] == nil || started[0].Data["program"] != true {
		t.Errorf("log: %+v", started)
	}
}

// E-TOOL-2: noise before the response passes; what is no response is said to be none.
func TestWhatProgramsPrint(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.register(t, "raw", nil)
	answer := `{"jsonrpc":"2.0","result":"yes","id":1}`
	for _, c := range []struct {
		name, text, stderr string
		code               float64
		output             any
		failure            string
	}{
		{"plain", answer, "", 0, "yes", ""},
		{"noise", "loading…\n\x1b[1m{not json\n{\"level\":\"info\"}\n\n" + answer + "\n", "warn", 0, "yes", ""},
		{"an echo of the request is noise", `{"jsonrpc":"2.0","method":"raw","params":{},"id":1}` + "\n" + answer, "", 0, "yes", ""},
		{"an answer to another", `{"jsonrpc":"2.0","result":"no","id":2}` + "\n" + answer, "", 0, "yes", ""},
		{"only optional members", `{"result":null}`, "", 0, nil, ""},
		{"on many lines", "hello\n{\n \"result\": {\n  \"k\": 1\n }\n}\n", "", 0, map[string]any{"k": 1.0}, ""},
		{"crlf", answer + "\r\n", "", 0, "yes", ""},
		{"silence", "", "", 0, nil, "tool 'raw': the program ended without an answer on stdout"},
		{"silence, explained", " \n", "no config\nsorry", 0, nil, "tool 'raw': the program ended without an answer on stdout; stderr: no config | sorry"},
		{"exit 1", "", "boom\n", 1, nil, "tool 'raw': the program exited with code 1; stderr: boom"},
		{"exit 1 after an answer", answer, "", 1, nil, "tool 'raw': the program exited with code 1"},
		{"broken", `{"jsonrpc":"2.0","result":`, "", 0, nil, "no JSON-RPC response in the 26 bytes that the program printed, which begin"},
		{"noise alone", "hello\n", "", 0, nil, `which begin "hello"`},
		{"an error", `{"error":{"code":-32601,"message":"unknown\n tool\u0000"},"id":1}`, "", 0, nil, "tool 'raw': unknown tool (code -32601)"},
		{"an error and exit 1", `{"error":{"message":"no quota"}}`, "trace", 1, nil, "tool 'raw': no quota; stderr: trace"},
		{"an error of text", `{"error":"bad"}`, "", 0, nil, `tool 'raw': "bad"`},
		{"long stderr", "", strings.Repeat("x", 5000) + "END", 2, nil, "xEND"},
		{"denied is its own word", `{"error":{"message":"denied by policy: no"}}`, "", 0, nil, "tool 'raw': denied by policy: no"},
	} {
		got := h.call(t, t.Context(), "raw", map[string]any{"text": c.text, "stderr": c.stderr, "code": c.code}, "")
		switch {
		case c.failure == "" && (got.Status != ir.Succeeded || !ir.Equal(got.Output, c.output)):
			t.Errorf("%s: got %+v", c.name, got)
		case c.failure != "" && (got.Status != ir.Failed || !strings.Contains(got.Error, c.failure) || got.ErrorClass != ir.ClassToolError):
			t.Errorf("%s: got %+v", c.name, got)
		case len(got.Error) > 2500:
			t.Errorf("%s: an error of %d bytes", c.name, len(got.Error))
		}
	}
}

// E-TOOL-2, P-PROC-2: a hung program is killed with its whole group, by a limit and by cancel.
func TestHang(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"timeout", "cancel"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			h := build(t)
			h.register(t, "hang", nil)
			pids := filepath.Join(t.TempDir(), "pids")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			more, class := `,"timeout_ms":1500`, ir.ClassTimeout
			if by == "cancel" {
				more, class = "", ir.ClassCanceled
				go func() {
					for {
						if _, err := os.Stat(pids); err == nil || ctx.Err() != nil {
							cancel()
							return
						}
					}
				}()
			}
			got := h.call(t, ctx, "hang", map[string]any{"pids": pids}, more)
			if got.Status != ir.Failed || got.ErrorClass != class {
				t.Errorf("got %+v", got)
			}
			var parent, child int
			data, _ := os.ReadFile(pids)
			if _, err := fmt.Sscan(string(data), &parent, &child); err != nil {
				t.Fatalf("pids %q: %v", data, err)
			}
			if !gone(parent) || !gone(child) {
				t.Errorf("left running: %d %v, %d %v", parent, !gone(parent), child, !gone(child))
			}
		})
	}
}

// E-TOOL-2: 10 MiB are the most; a large request and a large answer below pass.
func TestCap(t *testing.T) {
	t.Parallel()
	h := build(t)
	for _, mode := range []string{"flood", "bulk", "deaf"} {
		h.register(t, mode, nil)
	}
	got := h.call(t, t.Context(), "flood", nil, "")
	if got.Status != ir.Failed || !strings.Contains(got.Error, "more than 10 MiB") {
		t.Errorf("flood: %+v", got)
	}
	got = h.call(t, t.Context(), "bulk", map[string]any{"in": strings.Repeat("y ", 1<<19)}, "")
	if text, _ := got.Output.(string); len(text) != 9<<20 {
		t.Errorf("bulk: %d bytes, %s", len(text), got.Error)
	}
}

// D-38, T-RED-3, T-RED-5: no secret comes back, neither in results nor in errors;
// what a definition gives its program as a secret is one.
func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.register(t, "leak", func(d *subprocess.Definition) { d.Program.Env = map[string]string{"SERVICE_TOKEN": givenS} })
	for _, fail := range []bool{false, true} {
		got := h.call(t, t.Context(), "leak", map[string]any{"fail": fail}, "")
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if (got.Status == ir.Failed) != fail || strings.Contains(string(text), known) || strings.Contains(string(text), givenS) || !strings.Contains(string(text), "[REDACTED]") {
			t.Errorf("fail %v: %s", fail, text)
		}
		if !fail && !strings.Contains(string(text), "plain") {
			t.Errorf("what is no secret is gone: %s", text)
		}
	}
	events, err := json.Marshal(h.log.Query(eventlog.Query{}))
	if err != nil || strings.Contains(string(events), known) || strings.Contains(string(events), givenS) {
		t.Errorf("log: %v %s", err, events)
	}
}

// E-TOOL-2, P-GUARD-8: env and dir of the definition; what no child has, it cannot give.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	h := build(t)
	sub := filepath.Join(h.root, "sub")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	h.register(t, "env", func(d *subprocess.Definition) {
		d.Program.Dir, d.Program.Env = "sub", map[string]string{"COLOUR": "blue"}
	})
	if got := h.call(t, t.Context(), "env", nil, ""); !ir.Equal(got.Output, []any{"blue", sub, sub, ""}) {
		t.Errorf("got %+v", got)
	}
	for what, change := range map[string]func(*tool.Program){
		"OPENAI_API_KEY is kept": func(p *tool.Program) { p.Env = map[string]string{"OPENAI_API_KEY": "x"} },
		"TMPDIR is kept":         func(p *tool.Program) { p.Env = map[string]string{"TMPDIR": "/tmp"} },
		"cannot be a variable":   func(p *tool.Program) { p.Env = map[string]string{"A=B": "x"} },
		"is no directory":        func(p *tool.Program) { p.Dir = "nowhere" },
		"is not on PATH":         func(p *tool.Program) { p.Command = "no-such-program" },
		"no program that can be": func(p *tool.Program) { p.Command = "./sub" },
	} {
		h.register(t, "env", func(d *subprocess.Definition) { change(&d.Program) })
		if got := h.call(t, t.Context(), "env", nil, ""); got.Status != ir.Failed || !strings.Contains(got.Error, what) {
			t.Errorf("%s: %+v", what, got)
		}
	}
}

// E-EXEC-7: with declared effects the exact envelope, and only then.
func TestEnvelope(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.register(t, "result", nil)
	declared := `,"expected_effects":{"k":1,"gone":null}`
	full := `{"output":"o","state_changes":{"k":{"op":"set","value":null},"gone":{"op":"delete"}}}`
	for _, c := range []struct{ name, more, result, failure string }{
		{"exact", declared, full, ""},
		{"no changes", declared, `{"output":1,"state_changes":{}}`, ""},
		{"bare", declared, `"o"`, "must return exact envelope {output,state_changes}"},
		{"no output", declared, `{"state_changes":{}}`, "must return exact envelope"},
		{"one more", declared, `{"output":1,"state_changes":{},"x":1}`, "must return exact envelope"},
		{"a list", declared, `{"output":1,"state_changes":[]}`, "state_changes must be an object"},
		{"untagged", declared, `{"output":1,"state_changes":{"k":1,"gone":2}}`, "state_changes must be an object"},
		{"a set without value", declared, `{"output":1,"state_changes":{"k":{"op":"set"},"gone":{"op":"delete"}}}`, "state_changes must be an object"},
		{"a key missing", declared, `{"output":1,"state_changes":{"k":{"op":"delete"}}}`, "state_changes keys do not match"},
		{"a key too many", declared, strings.Replace(full, `"k"`, `"x":{"op":"delete"},"k"`, 1), "state_changes keys do not match"},
	} {
		if _, err := h.state.Set("gone", "was", "test"); err != nil {
			t.Fatal(err)
		}
		got := h.call(t, t.Context(), "result", map[string]any{"result": c.result}, c.more)
		_, left := h.state.Get("gone")
		written, present := h.state.Get("k")
		switch {
		case c.failure != "" && (got.Status != ir.Failed || got.ErrorClass != ir.ClassValidation || !strings.Contains(got.Error, c.failure) || !left):
			t.Errorf("%s: %+v", c.name, got)
		case c.failure == "" && got.Status != ir.Succeeded:
			t.Errorf("%s: %+v", c.name, got)
		case c.name == "exact" && (left || !present || written != nil || got.Output != "o"):
			t.Errorf("exact: %v %v %v %+v", left, present, written, got)
		}
	}
	if got := h.call(t, t.Context(), "result", map[string]any{"result": full}, ""); got.Status != ir.Succeeded || len(got.StateChanges) != 0 {
		t.Errorf("undeclared: %+v", got)
	} else if _, whole := got.Output.(map[string]any)["state_changes"]; !whole {
		t.Errorf("undeclared: the result is not the output: %+v", got)
	}
}

// E-EXEC-9: output that is no I-JSON is an effect that may stand, and is not retried.
func TestBadOutput(t *testing.T) {
	t.Parallel()
	h := build(t)
	h.register(t, "result", nil)
	for _, result := range []string{`{"a":1,"a":2}`, `9007199254740993`, `"\ud800"`} {
		got := h.call(t, t.Context(), "result", map[string]any{"result": result}, `,"failure_behavior":"retry","max_retries":3,"idempotent":true`)
		if got.Status != ir.Failed || got.Attempts != 1 || got.Output != nil || got.ErrorClass != ir.ClassValidation || !strings.HasPrefix(got.Error, "tool output failed JCS/I-JSON validation after dispatch") {
			t.Errorf("%s: %+v", result, got)
		}
	}
}

// E-TOOL-2, G-APPR-1: what a definition may be, and that a changed program is another.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	good := subprocess.Definition{Name: "n", Program: tool.Program{Command: "/bin/x", Args: []string{"-t", "two words"}, Env: map[string]string{"API_TOKEN": "hidden-value"}}}
	for word, spoil := range map[string]func(*subprocess.Definition){
		"Name":      func(d *subprocess.Definition) { d.Name = "\u200b " },
		"Command":   func(d *subprocess.Definition) { d.Program.Command = "" },
		"no JSON o": func(d *subprocess.Definition) { d.Parameters = json.RawMessage(`[]`) },
		"Returns":   func(d *subprocess.Definition) { d.Returns = json.RawMessage(`1`) },
	} {
		d := good
		spoil(&d)
		if _, err := subprocess.New(d); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v", word, err)
		}
	}
	versions := map[string]bool{}
	for _, change := range []func(*subprocess.Definition){
		func(*subprocess.Definition) {},
		func(d *subprocess.Definition) { d.Program.Args = []string{"-u"} },
		func(d *subprocess.Definition) { d.Program.Env = map[string]string{"API_TOKEN": "another"} },
		func(d *subprocess.Definition) { d.Program.Dir = "d" },
	} {
		d := good
		change(&d)
		tl, err := subprocess.New(d)
		if err != nil {
			t.Fatal(err)
		}
		versions[tl.Spec().Version] = true
		effects, err := tl.Effects(tool.Call{})
		if err != nil || effects.OnlyReads() || effects.Program == nil {
			t.Errorf("effects %+v, %v", effects, err)
		}
	}
	if len(versions) != 4 {
		t.Errorf("%d versions of four programs", len(versions))
	}
	tl, _ := subprocess.New(good)
	blocks, err := tl.(tool.Previewer).Preview(t.Context(), tool.Call{}, nil)
	if err != nil || len(blocks) != 1 || blocks[0].Text != "/bin/x \"-t\" \"two words\"\nwith API_TOKEN" {
		t.Errorf("preview %+v, %v", blocks, err)
	}
	var f *tool.Fault
	if _, err := tl.Run(t.Context(), tool.Call{Tool: "n"}, tool.Env{}); !errors.As(err, &f) || f.Kind != tool.Unsupported {
		t.Errorf("without a substrate that runs programs: %v", err)
	}
}
