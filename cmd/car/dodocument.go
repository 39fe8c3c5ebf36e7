package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"car/internal/assistant"
	"car/internal/engine/ir"
)

// docSchema names the contract of `car do --json` (D-14).
const docSchema = "car.do/1"

// codeEffectRefused is the code of a run that ended by itself and left effects
// refused: exit 3.
const codeEffectRefused = "effect_refused"

// Limits of the document.
const (
	docSamples      = 8
	docBriefBytes   = 160
	docSummaryBytes = 4096
)

// document is what `car do --json` leaves on stdout: exactly one, on failure too.
// An error has error, message and suggestions and no summary.
type document struct {
	Schema          string      `json:"schema"`
	Status          string      `json:"status"`
	Summary         *string     `json:"summary,omitempty"`
	Error           string      `json:"error,omitempty"`
	Message         string      `json:"message,omitempty"`
	Turns           int         `json:"turns"`
	Delegations     *int        `json:"delegations,omitempty"`
	ModelUsed       string      `json:"model_used"`
	Receipts        docReceipts `json:"receipts"`
	UngroundedClaim *[]string   `json:"ungrounded_claims,omitempty"`
	Sandbox         docSandbox  `json:"sandbox"`
	ElapsedSeconds  float64     `json:"elapsed_seconds"`
	Goal            *docGoal    `json:"goal,omitempty"`
	Suggestions     []string    `json:"suggestions,omitempty"`
	// Ours.
	SessionID  string           `json:"session_id"`
	Code       string           `json:"code,omitempty"`
	Usage      *assistant.Usage `json:"usage,omitempty"`
	CostUSD    *float64         `json:"cost_usd"`
	Completion map[string]any   `json:"completion,omitempty"`
	Denied     int              `json:"denied"`
	// Refused are the effects that were denied and not achieved otherwise; with any,
	// a run that finished exits 3 (B041).
	Refused []assistant.Refusal `json:"refused,omitempty"`
	// Text is what the model said last where it is no summary of work that was done.
	Text     string `json:"text,omitempty"`
	ExitCode int    `json:"exit_code"`
	// MCP are the servers of the session, with the cause of those that failed (B063).
	MCP []docServer `json:"mcp_servers,omitempty"`
}

type docReceipts struct {
	Total         int            `json:"total"`
	Failed        int            `json:"failed"`
	ByTool        map[string]int `json:"by_tool"`
	Sample        []docSample    `json:"sample"`
	SampleOmitted int            `json:"sample_omitted"`
}

type docSample struct {
	Tool  string `json:"tool"`
	OK    bool   `json:"ok"`
	Brief string `json:"brief"`
}

// docSandbox says where hands acted and what held them.
type docSandbox struct {
	Mode           string `json:"mode"`
	Image          string `json:"image,omitempty"`
	Network        string `json:"network"`
	Tier           string `json:"tier"`
	Root           string `json:"root"`
	Confinement    string `json:"confinement"`
	FallbackNotice string `json:"fallback_notice,omitempty"`
}

type docGoal struct {
	Check      string `json:"check"`
	Passed     bool   `json:"passed"`
	Grounded   bool   `json:"grounded"`
	Iterations int    `json:"iterations"`
	Halt       string `json:"halt,omitempty"`
}

// documentOf makes the document of a run that came to its end.
func documentOf(r *runLog, box docSandbox, o taskOptions, code exitCode) document {
	check, strict := o.check, o.strict
	d := document{
		Schema: docSchema, Turns: r.inferences, ModelUsed: r.model, Receipts: receiptsOf(r), Sandbox: box,
		ElapsedSeconds: r.ended.Sub(r.started).Seconds(), Goal: goalOf(r, check), SessionID: r.session,
		Usage: &r.report.Usage, CostUSD: r.report.Usage.CostUSD, Completion: r.report.Completion,
		Denied: deniedOf(r), ExitCode: int(code),
	}
	switch end := r.end.(type) {
	case assistant.Done:
		d.Status, d.Refused = "success", end.Refused
		d.summarise(r, end.Text)
		if len(end.Refused) > 0 {
			d.notDone(end)
		}
	case assistant.Failure:
		d.Code = end.Code
		if end.Code == assistant.CodeMaxTurns {
			d.Status = "max_turns"
			d.summarise(r, end.Text)
			break
		}
		d.Status, d.Error, d.Message = "error", "AssistantLoopFailed", end.Error
		if strict && end.Code == assistant.CodeModelNotFound {
			d.Error = "StrictModelUnavailable"
		}
	case assistant.AuthRequired:
		d.Status, d.Error, d.Message, d.Code = "error", "AssistantLoopFailed", end.Message, end.Reason
		d.Suggestions = []string{end.Help}
	}
	return d
}

// notDone is a run that finished while its work did not: whatever the model then
// said of it is no summary (P-TRUE-1, D-22).
func (d *document) notDone(end assistant.Done) {
	names := make([]string, len(end.Refused))
	for i, f := range end.Refused {
		names[i] = strings.TrimSpace(f.Tool + " " + f.Brief)
	}
	d.Status, d.Error, d.Code, d.Summary, d.Text = "error", "AssistantLoopFailed", codeEffectRefused, nil, elided(end.Text, docSummaryBytes)
	d.Message = "refused and not achieved otherwise: " + elided(strings.Join(names, "; "), docSummaryBytes)
	d.Suggestions = []string{"car --resume " + d.SessionID}
}

func (d *document) summarise(r *runLog, text string) {
	summary, none, claims := elided(text, docSummaryBytes), 0, r.report.UngroundedClaims
	if claims == nil {
		claims = []string{}
	}
	d.Summary, d.Delegations, d.UngroundedClaim = &summary, &none, &claims
}

// refusedDocument is the document of a command line that was not followed.
func refusedDocument(err error, code exitCode, hints []string) document {
	return document{Schema: docSchema, Status: "error", Error: "InvalidArguments", Message: err.Error(),
		Receipts: docReceipts{ByTool: map[string]int{}, Sample: []docSample{}}, Suggestions: hints, ExitCode: int(code)}
}

func receiptsOf(r *runLog) docReceipts {
	out := docReceipts{Total: len(r.results), Failed: r.failed(), ByTool: map[string]int{}, Sample: []docSample{}}
	for _, result := range r.results {
		out.ByTool[result.Tool]++
	}
	for _, ok := range []bool{false, true} {
		for _, result := range r.results {
			if result.OK == ok && len(out.Sample) < docSamples {
				out.Sample = append(out.Sample, docSample{Tool: result.Tool, OK: ok, Brief: clippedBytes(briefOf(r.calls[result.CallID].Params), docBriefBytes)})
			}
		}
	}
	out.SampleOmitted = out.Total - len(out.Sample)
	return out
}

// deniedOf counts the calls that were refused, whoever refused them (B041).
func deniedOf(r *runLog) int {
	n := 0
	for _, result := range r.results {
		if result.Status == ir.Rejected {
			n++
		}
	}
	return n
}

func goalOf(r *runLog, check string) *docGoal {
	if check == "" {
		return nil
	}
	g := &docGoal{Check: check, Iterations: len(r.goals)}
	if len(r.goals) > 0 {
		last := r.goals[len(r.goals)-1]
		g.Passed, g.Grounded = last.Met, last.Grounded
	}
	switch end := r.end.(type) {
	case assistant.Done:
		// Also a goal that was reached before any work: its check ran, without an iteration.
		g.Passed, g.Grounded = !end.GoalUnevaluated, !end.GoalUnevaluated
	case assistant.Failure:
		g.Halt = end.Code
	}
	return g
}

// briefOf says what a call was about, in one line.
func briefOf(params map[string]any) string {
	return strings.Join(strings.Fields(assistant.Essential(params)), " ")
}

// elided keeps the beginning of a text and says how much is missing.
func elided(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	keep := clippedBytes(text, limit-96)
	return fmt.Sprintf("%s\n[… shown %d of %d bytes, %d elided]", keep, len(keep), len(text), len(text)-len(keep))
}

// clippedBytes cuts a text at a whole character.
func clippedBytes(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
