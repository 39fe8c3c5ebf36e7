package render

import (
	"fmt"
	"strings"

	"car/internal/engine/verify/plan"
	"car/internal/engine/verify/report"
	"car/internal/engine/verify/workflow"
)

// Plan is a check of a plan for its author.
func Plan(r plan.Report, s Style) string {
	p := newPage(s)
	switch {
	case r.AchievesGoal:
		p.lead(p.paint(good, "applicable")+": ", "every step can be taken, and the goal holds at the end")
	case r.Applicable:
		p.lead(p.paint(bad, "goal missed")+": ", "every step can be taken, but the goal does not hold at the end")
	default:
		p.line(p.paint(bad, "not applicable"))
	}
	some(p, r.Defects, maxRows, func(d plan.Defect) { p.defect(d.Severity, string(d.Kind), d.Message) })
	p.beyond(r.CannotVerify)
	return p.String()
}

// Workflow is a check of a workflow, and of the rules it was held against, if any.
func Workflow(r workflow.Report, rules *workflow.PolicyReport, s Style) string {
	p := newPage(s)
	stages := count(len(r.ReachableStages)+len(r.UnreachableStages), "stage")
	if r.Valid {
		p.line(p.paint(good, "valid") + ": " + stages)
	} else {
		p.line(p.paint(bad, "not valid") + ": " + stages)
	}
	some(p, r.Defects, maxRows, func(d workflow.Defect) {
		p.defect(d.Severity, string(d.Kind), d.Message)
		p.trail(d.Witness)
	})
	if len(r.Semantic) > 0 {
		p.title("keys from outside")
		some(p, r.Semantic, maxShown, p.item)
	}
	if rules != nil {
		p.rules(*rules)
	}
	p.beyond(r.CannotVerify)
	return p.String()
}

func (p *page) rules(r workflow.PolicyReport) {
	p.title("rules")
	if r.OK {
		p.line("  every rule holds on every path")
	}
	some(p, r.Violations, maxRows, func(v workflow.Violation) {
		p.defect(report.Error, string(v.Policy.Type), v.Explanation)
		p.trail(v.Path)
	})
}

func (p *page) defect(s report.Severity, kind, message string) {
	p.para(p.severity(s, p.pad(s.String(), 7))+"  ", "         ", fmt.Sprintf("%s: %s", kind, message))
}

// trail writes a path, its middle left out where it is long.
func (p *page) trail(ids []string) {
	if len(ids) < 2 {
		return
	}
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = report.Clip(id)
	}
	if len(words) > 2*maxShown {
		left := fmt.Sprintf("… %d more …", len(words)-2*maxShown)
		words = append(append(words[:maxShown:maxShown], left), words[len(words)-maxShown:]...)
	}
	p.para("         ", "           ", strings.Join(words, " -> "))
}

func (p *page) beyond(cannot []string) {
	p.title("not looked at")
	for _, text := range cannot {
		p.item(text)
	}
}
