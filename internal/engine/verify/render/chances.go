package render

import (
	"fmt"
	"slices"
	"strings"

	"car/internal/engine/verify/montecarlo"
	"car/internal/engine/verify/report"
)

// Chances is what came of many trials: the goal with its interval, what each action
// risks, the worst blast radius, and where the rates came from (V-CLI-4).
func Chances(r montecarlo.Result, s Style) string {
	p := newPage(s)
	how := "every outcome, enumerated"
	if r.Trials > 0 {
		how = fmt.Sprintf("%d trials, seed %d", r.Trials, r.Seed)
	}
	p.lead("", how)
	if r.PGoalReached != nil {
		interval := ""
		if r.PGoalCI95 != nil {
			interval = fmt.Sprintf("  (95 %%: %.1f to %.1f)", r.PGoalCI95[0]*100, r.PGoalCI95[1]*100)
		}
		p.share("goal", *r.PGoalReached, interval)
	}
	p.share("all of it", r.PAllEffectsLanded, "")
	p.lead("tool calls  ", spread(r.ToolCalls))
	if len(r.GoalUnderivableConditions) > 0 {
		p.item("no state decides these parts of the goal, so they count as unmet: " + strings.Join(r.GoalUnderivableConditions, ", "))
	}
	if len(r.UndecidedActions) > 0 {
		p.item("taken as able to run, though only a run tells: " + p.names(r.UndecidedActions) + "; what rests on them is an upper bound")
	}
	p.risks(r.ActionOutcomes)
	p.rates(r.RateProvenance)
	return p.String()
}

// share draws a probability as a bar, where there is room for one.
func (p *page) share(name string, share float64, more string) {
	bar := ""
	if width := min(40, p.style.Columns-50); width >= 10 {
		bar = p.bar(share, width) + " "
	}
	p.lead(p.pad(name, 10)+"  "+bar, fmt.Sprintf("%.1f %%%s", share*100, more))
}

func spread(d montecarlo.Distribution) string {
	return fmt.Sprintf("%.1f on average, %g to %g, 95 %% within %g", d.Mean, d.Min, d.Max, d.P95)
}

// risks lists actions by how much their failure takes along, worst first.
func (p *page) risks(outcomes []montecarlo.ActionOutcome) {
	if len(outcomes) == 0 {
		return
	}
	order := slices.Clone(outcomes)
	slices.SortStableFunc(order, func(a, b montecarlo.ActionOutcome) int {
		x, y := a.PFailed*(1+a.MeanBlastRadius), b.PFailed*(1+b.MeanBlastRadius)
		switch {
		case x > y:
			return -1
		case x < y:
			return 1
		default:
			return 0
		}
	})
	p.title("actions, worst first")
	ids := 0
	for _, o := range order[:min(len(order), maxRows)] {
		ids = max(ids, p.style.Width(p.esc(string(o.ActionID))))
	}
	ids = min(ids, 20)
	some(p, order, maxRows, func(o montecarlo.ActionOutcome) {
		text := fmt.Sprintf("lands %5.1f %%, fails %5.1f %%, rejected %5.1f %%", o.PEffectsLanded*100, o.PFailed*100, o.PRejected*100)
		if o.MeanBlastRadius > 0 {
			text += fmt.Sprintf("; a failure takes %.1f along", o.MeanBlastRadius)
		}
		if p.style.Columns < narrow {
			p.para("  ", "    ", report.Clip(o.ActionID)+" "+text)
			return
		}
		p.para("  "+p.pad(p.fit(p.esc(string(o.ActionID)), ids), ids)+"  ", strings.Repeat(" ", ids+4), text)
	})
}

func (p *page) rates(r montecarlo.Provenance) {
	if len(r.Tools) == 0 {
		return
	}
	p.title("success rates")
	some(p, r.Tools, maxRows, func(t montecarlo.ToolRate) {
		text := fmt.Sprintf("%s %.2f, ", t.Tool, t.Rate)
		switch t.Source {
		case montecarlo.FromTrajectories:
			text += fmt.Sprintf("from %d of %d calls in %d days", *t.Succeeded, *t.Dispatched, r.WindowDays)
		case montecarlo.FromCaller:
			text += "as given"
		default:
			text += "by default: nothing is known of it"
		}
		p.item(text)
	})
}
