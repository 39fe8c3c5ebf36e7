package scripted

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"car/internal/assistant/llm"
	"car/internal/assistant/llm/wire"
)

// stallLimit is the silence after which a real client gives up (A-LLM-9).
const stallLimit = 90 * time.Second

// player plays one turn for one range.
type player struct {
	over   func() error // the context's Err
	sleep  func(time.Duration) error
	origin llm.Origin
	turn   *turn
	fault  *fault // nil plays clean
	yield  func(llm.Event, error) bool
	// strike counts down the characters until a fault in the middle.
	strike int
}

func (p *player) play() {
	if p.is("http") || p.is("auth") {
		p.fail(p.refusal())
		return
	}
	p.strike = p.strikesAfter()
	_ = p.emit(llm.Started{Model: p.origin.Model}) &&
		p.thinking() && p.text() && p.calls() && p.end()
}

func (p *player) is(kind string) bool { return p.fault != nil && p.fault.Kind == kind }

func (p *player) fail(e *llm.Error) bool {
	e.Provider = p.origin.Provider
	p.yield(nil, e)
	return false
}

// emit hands out an event; false means that the range is over.
func (p *player) emit(e llm.Event) bool {
	if p.over() != nil {
		return p.canceled()
	}
	return p.yield(e, nil)
}

func (p *player) canceled() bool {
	return p.fail(&llm.Error{Kind: llm.KindCanceled, Message: "canceled", Err: p.over()})
}

// refusal is the error instead of a reply.
func (p *player) refusal() *llm.Error {
	if p.is("http") {
		h := http.Header{}
		if p.fault.RetryAfter > 0 {
			h.Set("Retry-After", strconv.Itoa(p.fault.RetryAfter))
		}
		return wire.Failed(wire.FailedAnswer{Status: p.fault.Status, Header: h, Body: []byte(p.fault.Body)})
	}
	kind := llm.KindAuth
	switch *p.fault.Reason {
	case llm.AuthForbidden:
		kind = llm.KindForbidden
	case llm.AuthPaymentRequired:
		kind = llm.KindPayment
	}
	return &llm.Error{Kind: kind, Reason: *p.fault.Reason, Message: "the scenario asks for " + p.fault.Reason.String()}
}

// strikesAfter is how many characters come before a fault in the middle, -1 for none.
func (p *player) strikesAfter() int {
	if !p.is("disconnect") && !p.is("stall") && !p.is("error_event") {
		return -1
	}
	if p.fault.AfterChars != nil {
		return *p.fault.AfterChars
	}
	return utf8.RuneCountInString(p.turn.Text) / 2
}

func (p *player) thinking() bool {
	if p.turn.Thinking == "" || p.is("empty") {
		return true
	}
	for text := p.turn.Thinking; text != ""; {
		piece := head(text, p.turn.Chunk)
		text = text[len(piece):]
		if !p.pause() || !p.emit(llm.Thinking{Delta: piece}) {
			return false
		}
	}
	raw, err := json.Marshal(map[string]string{"thinking": p.turn.Thinking})
	if err != nil { // a string always has a JSON form
		panic("scripted: " + err.Error())
	}
	return p.emit(llm.Item{Part: llm.Part{Kind: llm.PartThinking, Text: p.turn.Thinking, Raw: string(raw), Origin: p.origin}})
}

func (p *player) text() bool {
	return p.stream(p.turn.Text, func(piece string) llm.Event { return llm.Text{Delta: piece} })
}

func (p *player) calls() bool {
	if p.is("empty") {
		return true
	}
	for i, c := range p.turn.Calls {
		if p.strike == 0 && !p.hit() {
			return false
		}
		if !p.emit(llm.ToolStart{Index: i, ID: c.ID, Name: c.Name}) {
			return false
		}
		if !p.stream(c.text, func(piece string) llm.Event { return llm.ToolDelta{Index: i, Fragment: piece} }) {
			return false
		}
	}
	return true
}

// stream emits a text in chunks, up to where the fault strikes.
func (p *player) stream(text string, event func(string) llm.Event) bool {
	if p.is("empty") {
		return true
	}
	if p.is("length") {
		text = head(text, utf8.RuneCountInString(text)/2)
	}
	for text != "" {
		size := p.turn.Chunk
		if p.strike >= 0 {
			size = min(size, p.strike)
		}
		if size == 0 {
			if !p.hit() {
				return false
			}
			continue
		}
		piece := head(text, size)
		text = text[len(piece):]
		if p.strike > 0 {
			p.strike -= utf8.RuneCountInString(piece)
		}
		if !p.pause() || !p.emit(event(piece)) {
			return false
		}
	}
	return true
}

// head is the first n characters.
func head(text string, n int) string {
	end := 0
	for ; n > 0 && end < len(text); n-- {
		_, width := utf8.DecodeRuneInString(text[end:])
		end += width
	}
	return text[:end]
}

func (p *player) pause() bool {
	return p.turn.DelayMS == 0 || p.wait(time.Duration(p.turn.DelayMS)*time.Millisecond)
}

func (p *player) wait(d time.Duration) bool {
	if p.sleep(d) != nil {
		return p.canceled()
	}
	return true
}

// hit is the moment of a fault in the middle; true means that the reply goes on.
func (p *player) hit() bool {
	p.strike = -1
	switch p.fault.Kind {
	case "stall":
		silence := time.Duration(p.fault.MS) * time.Millisecond
		if silence < stallLimit {
			return p.wait(silence)
		}
		return p.wait(stallLimit) && p.fail(&llm.Error{Kind: llm.KindTimeout, Message: "the stream stalled: nothing came for " + stallLimit.String()})
	case "error_event":
		body, err := json.Marshal(map[string]any{"error": map[string]string{"type": p.fault.Type, "message": "the scenario breaks off here"}})
		if err != nil {
			panic("scripted: " + err.Error())
		}
		return p.fail(wire.Failed(wire.FailedAnswer{Status: http.StatusOK, Body: body}))
	}
	return p.fail(&llm.Error{Kind: llm.KindDisconnected, Message: "the connection broke off before the reply was complete"})
}

// end tells usage and stop.
func (p *player) end() bool {
	if p.strike >= 0 && !p.hit() { // more characters than the reply has
		return false
	}
	if p.is("no_stop") {
		return p.fail(&llm.Error{Kind: llm.KindDisconnected, Message: "the reply ended without its terminal event"})
	}
	if u := p.turn.Usage; u != nil && !p.emit(llm.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Reasoning: u.Reasoning}) {
		return false
	}
	kind := llm.StopEnd
	switch {
	case p.is("length"):
		kind = llm.StopLength
	case len(p.turn.Calls) > 0 && !p.is("empty"):
		kind = llm.StopToolUse
	}
	return p.emit(llm.Stop{Kind: kind, Raw: kind.String()})
}
