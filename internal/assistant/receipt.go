package assistant

import (
	"fmt"
	"slices"
	"strings"

	"car/internal/assistant/claim"
	"car/internal/engine/ir"
	"car/internal/engine/shell"
)

// receipt records what is known of an answered call, in the run and for the
// session, and notes a refused effect (A-CLAIM-1, D-22).
func (r *run) receipt(c *call, res ir.ActionResult) claim.Receipt {
	l := r.c.svc.lens
	rc := claim.Receipt{CallID: c.ID, Tool: c.Name, OK: worked(res), Ran: res.Status == ir.Succeeded || res.Status == ir.Failed,
		Status: res.Status.String(), Effect: effectOf(c, res), Brief: l.brief(c.params)}
	if out, ok := res.Output.(map[string]any); ok {
		if code, ok := out["exit_code"].(float64); ok {
			n := int(code)
			rc.ExitCode = &n
		}
		if text, ok := out["output"].(string); ok {
			rc.Excerpt = tailOf(l.text(text), receiptTail)
		}
	}
	for _, f := range res.FileChanges {
		if f.Before != f.After && !slices.Contains(rc.Changed, f.Path) {
			rc.Changed = append(rc.Changed, f.Path)
		}
	}
	if text, ok := commandOf(c, res, rc.ExitCode != nil); ok {
		rc.Commands, rc.Masked = readCommands(text, r.c.svc.cfg.Dialect)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.receipts = append(r.receipts, rc)
	r.settleRefusals(c, res, rc)
	return rc
}

// commandOf is the shell text whose exit a result tells: the call's own, or that of a
// job that has ended. A job that was only started proves nothing (T-SHELL-10).
func commandOf(c *call, res ir.ActionResult, ended bool) (string, bool) {
	out, _ := res.Output.(map[string]any)
	_, isJob := out["job_id"].(string)
	if isJob && !ended {
		return "", false
	}
	text, ok := c.params["command"].(string)
	if isJob && c.Name == "shell_output" {
		text, ok = out["command"].(string)
		return text, ok
	}
	return text, ok && c.Name == "shell"
}

// effectOf is the most the call could do, as the engine judged it.
func effectOf(c *call, res ir.ActionResult) claim.Effect {
	switch {
	case c.tool.ReadOnly || res.Tier == ir.ReadOnly:
		return claim.Read
	case res.Tier == ir.SandboxEdit:
		return claim.Write
	default:
		return claim.Outward
	}
}

// readCommands are the words of the commands of a shell text, and whether its
// exit code may be another command's than the one that matters.
func readCommands(text, dialect string) (commands [][]string, masked bool) {
	o := shell.Options{Dialect: shell.Bash, Dir: "/"}
	if dialect == "sh" {
		o.Dialect = shell.POSIX
	}
	script := shell.Read(text, o)
	for _, c := range script.Commands {
		if len(c.Words) == 0 || c.Wraps || c.Lookup {
			continue
		}
		words := make([]string, len(c.Words))
		for i, w := range c.Words {
			words[i] = w.String()
		}
		commands = append(commands, words)
		masked = masked || c.Piped || c.Background
	}
	if len(commands) > 1 && strings.ContainsAny(strings.TrimRight(text, "; \n"), ";|\n") {
		masked = true
	}
	return commands, masked
}

// report is what really ran in this run, bounded (A-EVT-7). It stands immediately
// before the terminal event, whatever that is.
func (r *run) report() ReceiptReport {
	r.mu.Lock()
	defer r.mu.Unlock()
	rep := ReceiptReport{Completion: claim.Complete(r.receipts).Map(), DesktopActions: []string{}, ToolReceipts: []ToolReceipt{},
		UngroundedClaims: []string{}, Usage: r.spent.total}
	for _, f := range r.findings {
		rep.UngroundedClaims = append(rep.UngroundedClaims, r.c.svc.lens.text(f.String()))
	}
	for _, rc := range r.receipts {
		rep.ToolReceipts = append(rep.ToolReceipts, ToolReceipt{CallID: rc.CallID, Tool: rc.Tool, OK: rc.OK, Status: rc.Status, Brief: rc.Brief})
		if rc.Ran && rc.Effect != claim.Read {
			rep.DesktopActions = append(rep.DesktopActions, actionLine(rc))
		}
	}
	rep.ToolReceipts, rep.ToolReceiptsOmitted = newest(rep.ToolReceipts, reportReceipts)
	rep.DesktopActions, rep.DesktopActionsOmitted = newest(rep.DesktopActions, reportReceipts)
	for jsonSize(rep) > reportBytes && len(rep.ToolReceipts)+len(rep.DesktopActions) > 0 {
		var a, b int
		rep.ToolReceipts, a = newest(rep.ToolReceipts, len(rep.ToolReceipts)*3/4)
		rep.DesktopActions, b = newest(rep.DesktopActions, len(rep.DesktopActions)*3/4)
		rep.ToolReceiptsOmitted += a
		rep.DesktopActionsOmitted += b
	}
	return rep
}

// actionLine is one effect in a line.
func actionLine(rc claim.Receipt) string {
	line := rc.Tool + " " + rc.Brief
	if len(rc.Changed) > 0 {
		line = rc.Tool + " " + clip(strings.Join(rc.Changed, ", "), briefBytes)
	}
	if !rc.OK {
		line += fmt.Sprintf(" (%s)", failedWord(rc))
	}
	return line
}

func failedWord(rc claim.Receipt) string {
	if rc.ExitCode != nil {
		return fmt.Sprintf("exit %d", *rc.ExitCode)
	}
	return "failed"
}

// newest keeps the last n of a list and says how many that leaves out.
func newest[T any](list []T, n int) ([]T, int) {
	omitted := max(0, len(list)-n)
	return list[omitted:], omitted
}
