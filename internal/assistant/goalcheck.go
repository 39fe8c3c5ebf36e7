package assistant

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"car/internal/assistant/claim"
	"car/internal/engine"
	"car/internal/engine/ir"
)

// checkState is what running a goal's check brought. The zero value is no verdict.
type checkState uint8

const (
	checkUnevaluated checkState = iota
	checkMet
	checkUnmet
	checkDenied
	checkCanceled
)

// verdict is one run of the check.
type verdict struct {
	state  checkState
	reason string
	// short says in a word or two why there is no verdict.
	short  string
	output string
	code   int
	// digest is the same for two runs that failed in the same way.
	digest  string
	receipt claim.Receipt
}

// The identity of a check's proposal, as logs and approvals show it (A-GOAL-2).
const (
	checkSource = "chat-goal-check"
	checkAction = "goal_check"
)

// evaluate runs the check through the engine, governed like any other call. The
// person is asked once; 120 s count from its dispatch (A-GOAL-3, A-GOAL-5).
func (p *pursuit) evaluate(ctx context.Context) verdict {
	r := p.r
	r.checks++
	a := toolAction(checkAction, "shell", map[string]any{"command": p.check})
	a.TimeoutMS = uint64(goalCheckTimeout.Milliseconds())
	prefix := fmt.Sprintf("t%dg%d.", r.number, r.checks)
	proposal := ir.Proposal{ID: ir.ProposalID(strings.TrimSuffix(prefix, ".")), Source: checkSource, Timestamp: r.c.svc.cfg.Now().UTC(),
		Actions: []ir.Action{a}, Context: map[string]any{}}
	out, err := p.execute(ctx, proposal, prefix)
	switch {
	case ctx.Err() != nil:
		return verdict{state: checkCanceled, reason: "canceled"}
	case err != nil:
		return verdict{reason: "goal check could not be recorded: " + err.Error(), short: "could not run"}
	case len(out.Results) != 1:
		return verdict{reason: "goal check has no result", short: "could not run"}
	}
	v := readVerdict(out.Results[0])
	v.output = r.c.svc.lens.text(v.output)
	v.receipt = r.checkReceipt(prefix+checkAction, p.check, out.Results[0])
	return v
}

// execute runs the check while the asker knows that it is the check.
func (p *pursuit) execute(ctx context.Context, proposal ir.Proposal, prefix string) (ir.ProposalResult, error) {
	defer p.r.c.asker.forCheck(p.authority)()
	return p.r.c.runtime.Engine.Execute(ctx, proposal, engine.Options{Session: p.r.c.id, Turn: p.r.number, Refusal: engine.RefuseAction, CallPrefix: prefix})
}

// readVerdict decides: met only when the command exited 0; not met when it exited
// with another code; refused; and in every other case there is no verdict.
func readVerdict(res ir.ActionResult) verdict {
	switch {
	case res.Status == ir.Rejected:
		return verdict{state: checkDenied, reason: res.Error}
	case res.Status == ir.Failed && res.ErrorClass == ir.ClassTimeout:
		return timedOut()
	case res.Status != ir.Succeeded:
		return verdict{reason: "goal check could not run: " + res.Error, short: "could not run"}
	}
	out, _ := res.Output.(map[string]any)
	text, _ := out["output"].(string)
	if t, _ := out["timed_out"].(bool); t {
		return timedOut()
	}
	if signal, _ := out["signal"].(string); signal != "" {
		return verdict{reason: "goal check was killed by " + signal, short: "killed"}
	}
	code, ok := out["exit_code"].(float64)
	if !ok {
		return verdict{reason: "goal check reported no exit code", short: "no exit code"}
	}
	v := verdict{state: checkUnmet, reason: fmt.Sprintf("command '%s' exited %d", checkAction, int(code)), output: text, code: int(code)}
	if code == 0 {
		v.state = checkMet
	}
	v.digest = string(ir.DigestBytes([]byte(fmt.Sprintf("%d\n%s", int(code), masked(text)))))
	return v
}

// startup says what a shell means with the exit codes for a command that it could
// not run. It is no verdict: what is missing may be the work.
func (v verdict) startup() string {
	switch {
	case v.state != checkUnmet:
		return ""
	case v.code == 127:
		return " (the shell did not find what it names)"
	case v.code == 126:
		return " (the shell found what it names and may not run it)"
	}
	return ""
}

// shownOutput is what a person reads of a check that is not met: without it they know
// only that something is wrong.
func (p *pursuit) shownOutput(v verdict) string {
	if v.state != checkUnmet {
		return ""
	}
	return tailOf(p.r.c.svc.lens.text(v.output), receiptTail)
}

func timedOut() verdict {
	return verdict{short: "timed out", reason: fmt.Sprintf(
		"goal check did not complete within %ds — treating this turn's reply as unevaluated rather than blocking on it", int(goalCheckTimeout.Seconds()))}
}

// checkReceipt records a run of the check like a call.
func (r *run) checkReceipt(callID, command string, res ir.ActionResult) claim.Receipt {
	c := &call{sequence: 0, params: map[string]any{"command": command}}
	rc := claim.Receipt{CallID: callID, Tool: "shell", OK: worked(res), Ran: res.Status == ir.Succeeded || res.Status == ir.Failed, Status: res.Status.String(),
		Effect: claim.Write, Brief: r.c.svc.lens.brief(c.params), GoalCheck: true}
	rc.Commands, rc.Masked = readCommands(command, r.c.svc.cfg.Dialect)
	if out, ok := res.Output.(map[string]any); ok {
		if code, ok := out["exit_code"].(float64); ok {
			n := int(code)
			rc.ExitCode = &n
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.receipts = append(r.receipts, rc)
	return rc
}

// varying is what differs between two runs that failed in the same way: times,
// addresses, temporary paths (A-GOAL-8).
var varying = regexp.MustCompile(`\b\d+(?:\.\d+)?\s?(?:ns|µs|ms|s|sec|seconds|m|min)\b|\b\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?\b|\b\d{4}-\d{2}-\d{2}\b|0x[0-9a-fA-F]+|/tmp/\S+|/var/folders/\S+`)

func masked(output string) string { return varying.ReplaceAllString(output, "~") }

// trail sees iterations that lead nowhere (A-GOAL-8).
type trail struct {
	digests []string
	idle    int
}

// stuck takes the verdict of an iteration: three with the same output and no
// effect, or two outputs that alternate three times.
func (t *trail) stuck(digest string, worked bool) bool {
	n := len(t.digests)
	switch {
	case worked || n > 0 && t.digests[n-1] != digest:
		t.idle = 0
	}
	if !worked {
		t.idle++
	}
	t.digests = append(t.digests, digest)
	return t.idle >= goalStuck || t.alternates()
}

func (t *trail) alternates() bool {
	const rounds = 6
	if len(t.digests) < rounds {
		return false
	}
	last := t.digests[len(t.digests)-rounds:]
	if last[0] == last[1] {
		return false
	}
	for i, d := range last {
		if d != last[i%2] {
			return false
		}
	}
	return true
}
