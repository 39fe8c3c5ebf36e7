package render

import (
	"fmt"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/verify"
	"car/internal/engine/verify/dag"
	"car/internal/engine/verify/report"
)

// Bounds on what a page lists; the JSON form has everything.
const (
	maxRows    = 200
	maxLevels  = 200 // actions, above which levels are counts (V-CLI-3)
	maxRegions = 10
	maxShown   = 12
)

// Verification is a verdict for the author of the proposal (V-CLI-3).
func Verification(proposal ir.Proposal, r verify.Result, s Style) string {
	p := newPage(s)
	p.verdict(proposal, r)
	if len(r.Issues) > 0 {
		p.issues(r.Issues)
	}
	p.levels(proposal, r.ExecutionLevels)
	if len(r.Conflicts) > 0 {
		p.title("conflicts")
		some(p, r.Conflicts, maxShown, func(c verify.Conflict) { p.item(fmt.Sprintf("%s and %s write '%s'", c.First, c.Second, c.Key)) })
	}
	p.coverage(r.Evidence)
	return p.String()
}

func (p *page) verdict(proposal ir.Proposal, r verify.Result) {
	errors, warnings := len(r.Errors()), len(r.Warnings())
	size := count(len(proposal.Actions), "action") + " in " + count(len(r.ExecutionLevels), "level")
	switch {
	case errors > 0:
		p.lead(p.paint(bad, "not valid")+": ", count(errors, "error")+", "+count(warnings, "warning")+"; "+size)
	case warnings > 0:
		p.lead(p.paint(good, "valid")+" ", "with "+count(warnings, "warning")+"; "+size)
	default:
		p.lead(p.paint(good, "valid")+": ", size)
	}
}

func (p *page) severity(s report.Severity, text string) string {
	switch s {
	case report.Error:
		return p.paint(bad, text)
	case report.Warning:
		return p.paint(warns, text)
	default:
		return text
	}
}

// narrow is the width under which a table is written as paragraphs.
const narrow = 72

// issues is the table SEVERITY ACTION CHECK MESSAGE, with the explanation of each
// under its message.
func (p *page) issues(issues []verify.Issue) {
	p.gap()
	if p.style.Columns < narrow {
		some(p, issues, maxRows, p.paragraph)
		return
	}
	actions, checks := len("ACTION"), len("CHECK")
	for _, i := range issues[:min(len(issues), maxRows)] {
		actions = max(actions, p.style.Width(p.esc(string(i.ActionID))))
		checks = max(checks, p.style.Width(i.Check))
	}
	actions = min(actions, 20)
	p.line(p.paint(head, p.pad("SEVERITY", 8)+"  "+p.pad("ACTION", actions)+"  "+p.pad("CHECK", checks)+"  MESSAGE"))
	under := strings.Repeat(" ", 8+2+actions+2+checks+2)
	some(p, issues, maxRows, func(i verify.Issue) {
		action := p.pad(p.fit(p.esc(string(i.ActionID)), actions), actions)
		p.para(p.severity(i.Severity, p.pad(i.Severity.String(), 8))+"  "+action+"  "+p.pad(i.Check, checks)+"  ", under, i.Message)
		p.explain(under, i.Explain)
	})
}

// paragraph is an issue where a table has no room.
func (p *page) paragraph(i verify.Issue) {
	p.lead(p.severity(i.Severity, i.Severity.String())+" ", report.Clip(i.ActionID)+" "+i.Check)
	p.para("  ", "  ", i.Message)
	p.explain("  ", i.Explain)
}

func (p *page) explain(indent string, e *report.Explanation) {
	if e == nil {
		return
	}
	for _, why := range e.Because {
		p.para(indent+"- ", indent+"  ", why)
	}
	if len(e.Witness) > 1 {
		p.para(indent+"shown by: ", indent+"  ", p.names(e.Witness))
	}
	if e.Fix != "" {
		p.para(indent+"fix: ", indent+"  ", e.Fix)
	}
}

// names lists a few ids.
func (p *page) names(ids []ir.ActionID) string {
	var words []string
	for _, id := range ids[:min(len(ids), maxShown)] {
		words = append(words, report.Clip(id))
	}
	text := strings.Join(words, ", ")
	if more := len(ids) - maxShown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// levels draws the order of a plan: each action with what it waits for.
func (p *page) levels(proposal ir.Proposal, levels [][]ir.ActionID) {
	if len(levels) == 0 {
		return
	}
	p.title("levels")
	if len(proposal.Actions) > maxLevels {
		shown := levels[:min(len(levels), maxRows)]
		for n, level := range shown {
			p.line(fmt.Sprintf("  level %d  %s", n, count(len(level), "action")))
		}
		if more := len(levels) - len(shown); more > 0 {
			p.line("  and " + count(more, "level") + " more")
		}
		return
	}
	g, _ := dag.Of(proposal.Actions)
	waits := g.Waits()
	ids := 0
	for _, a := range proposal.Actions {
		ids = max(ids, p.style.Width(p.esc(string(a.ID))))
	}
	ids = min(ids, 20)
	for n, level := range g.Levels() {
		lead := fmt.Sprintf("  level %d  ", n)
		for _, i := range level {
			a := &proposal.Actions[i]
			text := actionText(a) + waitText(proposal.Actions, waits[i])
			if p.style.Columns < narrow {
				p.para(lead, "      ", report.Clip(a.ID)+" "+text)
			} else {
				name := p.pad(p.fit(p.esc(string(a.ID)), ids), ids)
				p.para(lead+name+"  ", strings.Repeat(" ", len(lead)+ids+2), text)
			}
			lead = strings.Repeat(" ", len(lead))
		}
	}
}

// actionText says in a few words what an action does. Parameter values do not appear.
func actionText(a *ir.Action) string {
	text := a.Type.String()
	if a.Type == ir.ToolCall {
		return text + " " + report.Clip(a.Tool)
	}
	if key, ok := a.StateKey(); ok {
		return text + " " + report.Clip(key)
	}
	return text
}

// waitText names what an action waits for, with the keys that order them.
func waitText(actions []ir.Action, waits []dag.Wait) string {
	if len(waits) == 0 {
		return ""
	}
	words := []string{}
	for at, w := range waits {
		if at == maxShown {
			words = append(words, fmt.Sprintf("and %d more", len(waits)-maxShown))
			break
		}
		word := report.Clip(actions[w.On].ID)
		if len(w.Keys) > 0 {
			word += "[" + report.Clip(strings.Join(w.Keys, " ")) + "]"
		}
		words = append(words, word)
	}
	return "  <- " + strings.Join(words, " ")
}

// coverage says how much was looked at, and what was not.
func (p *page) coverage(e verify.Evidence) {
	p.title(fmt.Sprintf("confidence %.2f", e.Confidence))
	for _, c := range e.Checks {
		if !c.Ran {
			why := strings.TrimSuffix(strings.TrimPrefix(c.Verifies, "(skipped: "), ")")
			p.item("not checked: " + c.Name + ", " + why)
		}
	}
	if e.Confidence < 1 {
		p.item("it is how much was looked at, not a chance of success")
	}
	for _, risk := range e.ResidualRisks {
		p.item(risk)
	}
	some(p, e.UntestedRegions, maxRegions, func(region string) { p.item("known only at run time: " + region) })
}
