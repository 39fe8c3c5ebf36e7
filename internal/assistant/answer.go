package assistant

import (
	"slices"
	"strings"

	"car/internal/assistant/llm"
	"car/internal/engine/ir"
)

// answer gives the model the results of a step, in the order of its calls, each
// within its bound and all within theirs (A-LOOP-1, A-LOOP-17). asides are the
// runtime's own words; they stand inside the last result, because a block after the
// results makes models end their turn (A-CTX-3).
func (r *run) answer(plan []*call, results map[ir.ActionID]ir.ActionResult, asides []string) {
	sizes := make([]int, len(plan))
	for i, c := range plan {
		sizes[i] = min(len(resultText(c.Name, results[c.id], resultBytes)), resultBytes)
	}
	share := fairShare(sizes, stepBytes)
	m := llm.Message{Role: llm.User}
	e := entry{Kind: entryResults}
	for i, c := range plan {
		res := results[c.id]
		text := resultText(c.Name, res, min(resultBytes, share))
		if i == len(plan)-1 {
			text = strings.Join(append([]string{text}, asides...), "\n\n")
		}
		m.Parts = append(m.Parts, llm.Part{Kind: llm.PartToolResult, Result: &llm.ToolResult{CallID: c.ID, Text: text, IsError: res.Status != ir.Succeeded}})
		e.Receipts = append(e.Receipts, r.receipt(c, res))
	}
	e.Message = m
	r.c.script.add(row{entry: e, turn: r.number})
}

// fairShare is the bound for each of several texts so that all fit into total:
// short ones keep their length, and what they leave is the long ones'.
func fairShare(sizes []int, total int) int {
	sorted := slices.Clone(sizes)
	slices.Sort(sorted)
	left := total
	for i, n := range sorted {
		rest := len(sorted) - i
		if n*rest > left {
			return left / rest
		}
		left -= n
	}
	return total
}
