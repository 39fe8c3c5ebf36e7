package subprocess_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"car/internal/assistant/store"
	"car/internal/engine"
	"car/internal/engine/approval"
	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
	"car/internal/engine/policy"
	"car/internal/engine/redact"
	"car/internal/engine/state"
	"car/internal/engine/tool"
	"car/internal/tools/subprocess"
	"car/internal/tools/substrate"
)

const (
	known  = "hunter2-very-secret"
	givenS = "given-only-to-the-child"
)

// TestMain is also the program that the tests ask: `<this binary> -ask <mode>`.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "-ask" {
		os.Exit(ask(os.Args[2]))
	}
	os.Exit(m.Run())
}

// ask reads the request and answers in the way of the mode.
func ask(mode string) int {
	var request struct {
		Version string         `json:"jsonrpc"`
		Method  string         `json:"method"`
		Params  map[string]any `json:"params"`
		ID      any            `json:"id"`
	}
	line, err := bufio.NewReader(os.Stdin).ReadBytes('\n')
	if mode != "deaf" && (err != nil || json.Unmarshal(line, &request) != nil || request.Version != "2.0") {
		fmt.Fprintln(os.Stderr, "no request", string(line), err)
		return 9
	}
	say := func(result string) { fmt.Printf(`{"jsonrpc":"2.0","id":%v,"result":%s}`+"\n", request.ID, result) }
	switch mode {
	case "echo":
		out, _ := json.Marshal(map[string]any{"method": request.Method, "params": request.Params})
		say(string(out))
	case "raw": // params.text is what it prints, params.code how it exits
		fmt.Print(request.Params["text"])
		if text, ok := request.Params["stderr"].(string); ok {
			fmt.Fprint(os.Stderr, text)
		}
		code, _ := request.Params["code"].(float64)
		return int(code)
	case "result":
		say(request.Params["result"].(string))
	case "flood":
		fmt.Print(strings.Repeat(strings.Repeat("x", 1<<10), 11<<10))
		say("1")
	case "bulk":
		say(strconv.Quote(strings.Repeat("x", 9<<20)))
	case "leak":
		fmt.Fprintln(os.Stderr, "token is", known, "and", os.Getenv("SERVICE_TOKEN"))
		if request.Params["fail"] == true {
			return 1
		}
		out, _ := json.Marshal([]any{known, os.Getenv("SERVICE_TOKEN"), map[string]any{"x": "k " + known}, "plain"})
		say(string(out))
	case "env":
		dir, _ := os.Getwd()
		out, _ := json.Marshal([]any{os.Getenv("COLOUR"), dir, os.Getenv("PWD"), os.Getenv("OPENAI_API_KEY")})
		say(string(out))
	case "hang":
		child, err := os.StartProcess(os.Args[0], []string{os.Args[0], "-ask", "deaf"}, &os.ProcAttr{Files: []*os.File{nil, os.Stdout, os.Stderr}})
		if err == nil {
			os.WriteFile(request.Params["pids"].(string), fmt.Appendf(nil, "%d %d", os.Getpid(), child.Pid), 0o600)
		}
		fmt.Fprintln(os.Stderr, "thinking")
		select {}
	case "deaf":
		time.Sleep(time.Hour)
	}
	return 0
}

type judge struct{}

func (judge) Judge(ir.Action, tool.Effects) policy.Judgement {
	return policy.Judgement{Verdict: policy.Allow, Tier: ir.FullAccess, Reversibility: ir.Irreversible}
}
func (judge) Take(ir.Action) []policy.Violation                                 { return nil }
func (judge) CheckState(ir.Action, func(string) (any, bool)) []policy.Violation { return nil }

// behind are the tools of the executor before.
type behind map[string]tool.Tool

func (b behind) Lookup(name string) (tool.Tool, bool) { t, ok := b[name]; return t, ok }
func (b behind) Schemas() []ir.ToolSchema             { return nil }

type constant string

func (constant) Spec() tool.Spec {
	return tool.Spec{Name: "constant", Parameters: json.RawMessage(`{}`)}
}
func (constant) Effects(tool.Call) (tool.Effects, error) { return tool.Effects{Declared: true}, nil }
func (c constant) Run(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
	return tool.Execution{Output: string(c)}, nil
}

// house is an engine over a real folder, with a toolbox to register in.
type house struct {
	*engine.Runtime
	box   *engine.Toolbox
	log   *eventlog.Log
	state *state.Store
	root  string
	n     int
}

func build(t *testing.T) *house {
	t.Helper()
	h := &house{state: state.New()}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	h.root, err = filepath.EvalSymlinks(t.TempDir())
	must(err)
	h.box = engine.NewToolbox(behind{"other": constant("behind"), "echo": constant("the wrong one")})
	h.log, err = eventlog.Open(eventlog.Config{Now: time.Now})
	must(err)
	db, err := store.Open(t.Context(), store.Config{Path: filepath.Join(t.TempDir(), "car.db"), Now: time.Now, Holder: store.Self()})
	must(err)
	t.Cleanup(func() { db.Close() })
	ledger, err := approval.New(approval.Config{Store: db, Now: time.Now})
	must(err)
	local, err := substrate.Open(substrate.Config{Root: h.root, ScratchBase: t.TempDir(), UID: "1", Session: "s", Dialect: "sh", Now: time.Now,
		Env: []string{"PATH=/usr/bin:/bin", "OPENAI_API_KEY=never-in-a-child"}})
	must(err)
	t.Cleanup(func() { local.Close() })
	h.Runtime, err = engine.New(engine.Config{Tools: h.box, Judge: judge{}, Recorder: ledger, Log: h.log, State: h.state, Substrate: local,
		Redactor: redact.New([]string{known}), CarHome: filepath.Join(h.root, "home"), Now: time.Now})
	must(err)
	return h
}

// register makes a tool of this binary, in a mode of ask.
func (h *house) register(t *testing.T, mode string, change func(*subprocess.Definition)) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d := subprocess.Definition{Name: mode, Program: tool.Program{Command: self, Args: []string{"-ask", mode}}}
	if change != nil {
		change(&d)
	}
	tl, err := subprocess.New(d)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.box.Register(tl); err != nil {
		t.Fatal(err)
	}
}

// call runs one call; more is further members of the action.
func (h *house) call(t *testing.T, ctx context.Context, name string, params map[string]any, more string) ir.ActionResult {
	t.Helper()
	h.n++
	text, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	action := fmt.Sprintf(`{"id":"p%d","actions":[{"id":"a","type":"tool_call","tool":%q,"parameters":%s%s}]}`, h.n, name, text, more)
	p, err := ir.DecodeProposal([]byte(action), ir.Defaults{NewID: func() string { return "id" }, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.Execute(ctx, p, engine.Options{Session: "s", CallPrefix: string(p.ID) + "/"})
	if err != nil {
		t.Fatal(err)
	}
	return r.Results[0]
}

// gone reports that no process of that id lives.
func gone(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err == nil {
		return strings.Contains(string(data), ") Z ")
	}
	return syscall.Kill(pid, 0) != nil
}
