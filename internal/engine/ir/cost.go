package ir

// Add counts one finished action (E-IR-7): by its status, so that the counts
// partition the results, and by the attempts its result reports.
func (c *CostSummary) Add(a Action, r ActionResult) {
	switch r.Status {
	case Succeeded, Failed:
		c.ActionsExecuted++
	case Rejected:
		c.ActionsRejected++
	case Skipped:
		c.ActionsSkipped++
	}
	c.TotalDurationMS += r.DurationMS
	c.Retries += max(r.Attempts-1, 0)
	if a.Type != ToolCall {
		return
	}
	c.ToolAttempts += r.Attempts
	if r.Status == Succeeded {
		c.ToolCalls++
	}
}

// RollbackContract is the worst reversibility that a batch declares; an empty
// batch is reversible (E-IR-7).
func RollbackContract(actions []Action) Reversibility {
	worst := Reversible
	for _, a := range actions {
		worst = worst.Worse(a.Reversibility)
	}
	return worst
}
