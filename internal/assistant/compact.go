package assistant

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"car/internal/assistant/llm"
)

// squeezed is what the store keeps of a compaction: the rows that prompts show for
// a range of messages. The messages stay as they are (A-DUR-2).
type squeezed struct {
	Rows []squeezedRow `json:"rows"`
}

type squeezedRow struct {
	Entry      entry  `json:"entry"`
	Turn       int    `json:"turn,omitempty"`
	Provider   string `json:"provider,omitempty"`
	Model      string `json:"model,omitempty"`
	LastResort bool   `json:"last_resort,omitempty"`
}

// compact makes room: first old results become one line each, then the same model
// sums older messages up; if that is not enough, the second and last pass keeps one
// step and the runtime's own record of what was done, which needs no model
// (A-CTX-8, A-CTX-10). It reports whether prompts are shorter now. Nothing changes
// unless a pass is whole; a non-nil end ends the run.
func (r *run) compact(ctx context.Context, asked bool) (bool, Body) {
	if end := r.keep(ctx); end != nil {
		return false, end
	}
	changed := false
	for pass := 1; pass <= maxCompactions; pass++ {
		before := r.c.guess()
		rows, from, end := r.squeeze(ctx, pass, asked)
		if end != nil {
			return changed, end
		}
		if from >= 0 && rowTokens(rows) < rowTokens(r.c.script.rows[from:]) {
			if err := r.c.replace(context.WithoutCancel(ctx), from, rows); err != nil {
				return changed, r.failure(ctx, CodeStore, fmt.Sprintf("durable checkpoint failed before inference: %v", err))
			}
			changed = true
			r.c.compactions++
			r.measure()
			r.emit(Notice{Code: "compacted", Text: fmt.Sprintf("older messages were summarised: the prompt went from about %d to %d tokens. "+
				"All of them stay in the session; /events and files tell what a summary leaves out", r.c.gauge.need(before), r.need())})
		}
		if r.need() <= int64(compactAt*float64(r.room())) {
			break
		}
	}
	return changed, nil
}

// squeeze computes what a pass would show instead of the rows from an index on; -1
// is nothing to do.
func (r *run) squeeze(ctx context.Context, pass int, asked bool) (rows []row, from int, end Body) {
	s := &r.c.script
	from = s.compactFrom()
	aim := int64(compactAim * float64(r.room()))
	keep := keepSteps
	for keep > 1 && (pass > 1 || asked && s.tail(from, keep) <= from || int64(r.c.gauge.ratio()*float64(rowTokens(s.rows[s.tail(from, keep):]))) > aim*3/4) {
		keep-- // so many steps would leave no room for the rest
	}
	old := s.tail(from, keep)
	if old <= from {
		return nil, -1, nil
	}
	stubbed := make([]row, 0, old-from)
	for _, one := range s.rows[from:old] {
		stubbed = append(stubbed, stub(one))
	}
	kept := s.rows[old:]
	spared := r.c.guess() - rowTokens(s.rows[from:old]) + rowTokens(stubbed)
	if pass == 1 && !asked && int64(r.c.gauge.ratio()*float64(spared)) <= aim {
		return slices.Concat(stubbed, kept), from, nil
	}
	text := ""
	if pass == 1 {
		if text, end = r.summary(ctx, slices.Concat(s.rows[:from], stubbed)); end != nil {
			return nil, -1, end
		}
	}

	persons, omitted := personRows(s.rows[from:old], int(aim/2))
	sum := summaryRow(text, s.rows[from:old], omitted, r.c.todoLine())
	return slices.Concat(persons, []row{sum}, kept), from, nil
}

// summary asks the model in use to sum the rows up. An answer that is no summary is
// empty: then the runtime's own record has to do.
func (r *run) summary(ctx context.Context, rows []row) (string, Body) {
	t := transcript{rows: slices.Concat(rows, []row{newRow(entry{Kind: entryNote, Message: llm.UserText(summaryOrder)}, r.number)})}
	with := r.choices[0]
	req := llm.Request{Model: with.Model, System: r.c.system, Messages: t.messages(), Tools: r.c.toolset(), ToolChoice: llm.ToolChoice{Mode: llm.ToolNone},
		MaxTokens: with.MaxTokens, Effort: with.Effort, Cache: with.Cache, SessionID: r.c.id}
	guessed := r.c.fixed + t.tokens()
	if int64(r.c.gauge.ratio()*float64(guessed)) > r.room() || r.overBudget() != nil {
		return "", nil
	}
	r.emit(Notice{Code: "compacting", Text: "the conversation nears the model's window: summing older messages up"})
	got, err := r.tries(ctx, prompt{req: req, guessed: guessed, quiet: true})
	switch {
	case ctx.Err() != nil:
		return "", canceled(ctx)
	case err != nil:
		r.emit(Notice{Code: "compacting", Text: "the model gave no summary (" + err.Error() + "); the record of calls takes its place"})
		return "", nil
	case got.reply.Stop.Kind != llm.StopEnd || len(got.reply.Message.Calls()) > 0:
		r.emit(Notice{Code: "compacting", Text: fmt.Sprintf("the model gave no whole summary (it ended with %q); the record of calls takes its place", got.reply.Stop.Raw)})
		return "", nil
	}
	return strings.TrimSpace(got.text), nil
}

// replace shows rows instead of those from an index on to the last that they stand
// for, in the store first. Only what differs is replaced.
func (c *Conversation) replace(ctx context.Context, at int, rows []row) error {
	old := c.script.rows
	common := 0 // the same rows at the end stay as they are
	for common < len(rows) && common < len(old)-at && rows[len(rows)-1-common].seq == old[len(old)-1-common].seq &&
		rows[len(rows)-1-common].seq != 0 && old[len(old)-1-common].to == 0 && !rows[len(rows)-1-common].stubbed {
		common++
	}
	upto := len(old) - common
	lo, hi := old[at].first(), old[upto-1].last()
	for at > 0 && old[at-1].first() >= lo { // a row that an earlier compaction put before these is of the same range
		at--
		rows = slices.Concat(old[at:at+1], rows)
	}
	view := rows[:len(rows)-common]
	body, err := encodeRows(view)
	if err != nil {
		return err
	}
	if err := c.svc.cfg.Store.AddCompaction(ctx, c.id, lo, hi, body); err != nil {
		return err
	}
	fresh := slices.Clone(old[:at])
	for _, v := range view {
		v.seq, v.to, v.stubbed, v.input = lo, hi, false, 0
		fresh = append(fresh, v)
	}
	fresh = append(fresh, old[upto:]...)
	c.script = transcript{rows: fresh, stored: len(fresh)}
	return nil
}

func encodeRows(rows []row) (json.RawMessage, error) {
	s := squeezed{Rows: []squeezedRow{}}
	for _, r := range rows {
		s.Rows = append(s.Rows, squeezedRow{Entry: r.entry, Turn: r.turn, Provider: r.provider, Model: r.model, LastResort: r.lastResort})
	}
	return json.Marshal(s)
}

// decodeRows reads what a compaction shows for the range from lo to hi.
func decodeRows(body json.RawMessage, lo, hi int64) ([]row, error) {
	var s squeezed
	if err := json.Unmarshal(body, &s); err != nil {
		return nil, fmt.Errorf("the summary of messages %d to %d: %w", lo, hi, err)
	}
	var rows []row
	for _, one := range s.Rows {
		r := newRow(one.Entry, one.Turn)
		r.seq, r.to, r.provider, r.model, r.lastResort = lo, hi, one.Provider, one.Model, one.LastResort
		rows = append(rows, r)
	}
	return rows, nil
}

// first and last are the range of stored messages that a row stands for.
func (r row) first() int64 { return r.seq }
func (r row) last() int64  { return max(r.seq, r.to) }

// compactFrom is the row after the first words of a person: those, with the
// environment and the instructions, always stay.
func (t *transcript) compactFrom() int {
	for i, r := range t.rows {
		if r.Kind == entryInput || r.Kind == entryAnchor {
			return i + 1
		}
	}
	return 0
}

// tail is where the last n steps begin: a reply and its results stay together (A-CTX-9).
func (t *transcript) tail(from, n int) int {
	for i := len(t.rows) - 1; i > from; i-- {
		if t.rows[i].Kind == entryReply {
			if n--; n == 0 {
				return i
			}
		}
	}
	return from
}

func rowTokens(rows []row) int64 {
	n := int64(0)
	for _, r := range rows {
		n += r.tokens
	}
	return n
}
