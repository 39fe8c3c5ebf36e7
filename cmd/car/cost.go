package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"car/internal/assistant/store"
	"car/internal/tui/safe"
)

type costOptions struct {
	house   houseOptions
	session string
	all     bool
	json    bool
	out     io.Writer
}

func newCostCommand(a *app) *cobra.Command {
	var o costOptions
	cmd := &cobra.Command{
		Use:   "cost [SESSION]",
		Short: "Show tokens and money, model by model",
		Long: "Sums what was asked of models: of one session, or of all sessions of this project.\n" +
			"Money is counted only where a price is known: the provider told it, your settings name\n" +
			"it ([providers.NAME.models.MODEL] input_usd, output_usd, cache_read_usd, cache_write_usd,\n" +
			"US dollars a million tokens), or the model is in the built-in table of list prices of\n" +
			pricesDated + ". Requests whose price nobody knows are counted beside it, never guessed.",
		Example: "  car cost\n  car cost 0197\n  car cost --all --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.session = args[0]
			}
			o.out = cmd.OutOrStdout()
			return a.withHouse(cmd.Context(), o.house, func(h *house) error { return h.cost(cmd.Context(), o) })
		},
	}
	bindPlace(cmd, &o.house)
	cmd.Flags().BoolVar(&o.all, "all", false, "of every project")
	cmd.Flags().BoolVar(&o.json, "json", false, "one JSON object a line, one for each model")
	return cmd
}

func (h *house) cost(ctx context.Context, o costOptions) error {
	session, root := "", h.project.Root
	switch {
	case o.session != "":
		var err error
		if session, _, err = h.sessionFor(ctx, taskOptions{resume: o.session}); err != nil {
			return err
		}
		root = ""
	case o.all:
		root = ""
	}
	list, err := h.db.UsageByModel(ctx, session, root)
	if err != nil {
		return err
	}
	if o.json {
		return writeCosts(o.out, list)
	}
	return printCosts(o.out, list)
}

// modelCost is one line of `car cost --json`. CostUSD is null where no request had
// a known price; with Unpriced above 0 it is a part of the whole.
type modelCost struct {
	Provider   string   `json:"provider"`
	Model      string   `json:"model"`
	Requests   int64    `json:"requests"`
	Input      int64    `json:"input"`
	CacheRead  int64    `json:"cache_read"`
	CacheWrite int64    `json:"cache_write"`
	Output     int64    `json:"output"`
	Reasoning  int64    `json:"reasoning"`
	CostUSD    *float64 `json:"cost_usd"`
	Unpriced   int64    `json:"unpriced_requests"`
	Estimated  bool     `json:"estimated"`
	Dated      string   `json:"prices_dated"`
}

func writeCosts(w io.Writer, list []store.ModelTotals) error {
	for _, t := range list {
		line := modelCost{Provider: t.Provider, Model: t.Model, Requests: t.Requests, Input: t.Input, CacheRead: t.CacheRead, CacheWrite: t.CacheWrite,
			Output: t.Output, Reasoning: t.Reasoning, Unpriced: t.Unpriced, Estimated: t.Estimated, Dated: pricesDated}
		if t.CostMicros != nil {
			usd := float64(*t.CostMicros) / 1e6
			line.CostUSD = &usd
		}
		if err := writeJSONLine(w, line); err != nil {
			return err
		}
	}
	return nil
}

func printCosts(w io.Writer, list []store.ModelTotals) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "nothing was asked of a model yet")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "model\trequests\tinput\tcache read\tcache write\toutput\tcost") // a failed write is kept and told by Flush
	var sum, unpriced int64
	estimated := false
	for _, m := range list {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%s\n", safe.Line(m.Provider+"/"+m.Model), m.Requests, m.Input, m.CacheRead, m.CacheWrite, m.Output, moneyOf(m.CostMicros, m.Unpriced))
		if m.CostMicros != nil {
			sum += *m.CostMicros
		}
		unpriced += m.Unpriced
		estimated = estimated || m.Estimated
	}
	if len(list) > 1 {
		fmt.Fprintf(t, "together\t\t\t\t\t\t%s\n", moneyOf(&sum, unpriced))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if estimated {
		fmt.Fprintln(w, "some counts are estimated: the provider did not tell them")
	}
	if unpriced > 0 {
		fmt.Fprintf(w, "the price of %d requests is not known; name it in your settings (car help cost)\n", unpriced)
	}
	_, err := fmt.Fprintf(w, "built-in prices are list prices of %s; your bill decides\n", pricesDated)
	return err
}

// moneyOf is a sum, and what it leaves out.
func moneyOf(micros *int64, unpriced int64) string {
	switch {
	case micros == nil || *micros == 0 && unpriced > 0:
		return "unknown"
	case unpriced > 0:
		return fmt.Sprintf("$%.4f + unknown", float64(*micros)/1e6)
	default:
		return fmt.Sprintf("$%.4f", float64(*micros)/1e6)
	}
}
