package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"car/internal/engine/eventlog"
	"car/internal/tui/safe"
)

type statsOptions struct {
	session string
	json    bool
	out     io.Writer
}

func newStatsCommand(a *app) *cobra.Command {
	var o statsOptions
	cmd := &cobra.Command{
		Use:   "stats [SESSION]",
		Short: "Show what a session came to: outcomes, tokens, cost",
		Long: "Counts the record of a session: actions by outcome, decisions, goals, tokens, and money\n" +
			"where a price is known. SESSION is the beginning of an id; without it the newest is\n" +
			"counted.",
		Example: "  car stats\n  car stats 0197 --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.session = args[0]
			}
			o.out = cmd.OutOrStdout()
			return a.stats(o)
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "one JSON object")
	return cmd
}

func (a *app) stats(o statsOptions) error {
	home, err := a.env.state()
	if err != nil {
		return err
	}
	id, err := findSession(home, o.session)
	if err != nil {
		return err
	}
	events, err := eventlog.ReadFile(sessionLog(home, id))
	if err != nil {
		return err
	}
	m := eventlog.MetricsOf(events)
	if o.json {
		return writeJSONLine(o.out, struct {
			Session string `json:"session"`
			eventlog.Metrics
		}{id, m})
	}
	return printMetrics(o.out, id, m)
}

func printMetrics(w io.Writer, id string, m eventlog.Metrics) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "session\t%s\n", safe.Line(id)) // a failed write is kept by the writer and told by Flush
	fmt.Fprintf(t, "events\t%d\n", m.TotalEvents)
	fmt.Fprintf(t, "actions\t%d succeeded, %d failed, %d rejected, %d skipped\n", m.ActionsSucceeded, m.ActionsFailed, m.ActionsRejected, m.ActionsSkipped)
	fmt.Fprintf(t, "success\t%.0f%%, %.0f ms on average\n", 100*m.SuccessRate, m.AvgLatencyMS)
	fmt.Fprintf(t, "decisions\t%d recorded, %d by gates against, %d by policy against\n", m.ApprovalsRecorded, m.GateRejections, m.PolicyViolations)
	if m.GoalEvaluations > 0 {
		fmt.Fprintf(t, "goals\t%d checks, %d met, %d without a verdict\n", m.GoalEvaluations, m.GoalsMet, m.GoalsUngrounded)
	}
	fmt.Fprintf(t, "tokens\t%d in, %d out\n", m.TokensIn, m.TokensOut)
	fmt.Fprintf(t, "cost\t%s\n", costText(m))
	for _, a := range m.CostByAgent {
		fmt.Fprintf(t, "  %s\t%d requests, %d in, %d out\n", safe.Line(a.Agent), a.Calls, a.TokensIn, a.TokensOut)
	}
	return t.Flush()
}

// costText says what is known of money, and where nothing is.
func costText(m eventlog.Metrics) string {
	switch {
	case m.CumulativeCostUSD > 0:
		return fmt.Sprintf("$%.4f, of requests whose price is known", m.CumulativeCostUSD)
	case m.TokensIn+m.TokensOut > 0:
		return "none that is known"
	default:
		return "nothing was asked of a model"
	}
}
