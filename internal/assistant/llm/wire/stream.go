package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"car/internal/assistant/llm"
)

// Reader is what an adapter knows about the format of one reply. A Reader is made
// for one stream and embeds Queue. Errors are *llm.Error.
type Reader interface {
	// Frame reads one event of a stream; done says that it was the terminal one.
	Frame(a *Answer, f Frame) (done bool, err error)
	// Document reads a reply that came as one JSON document.
	Document(a *Answer, data []byte) error
	// End is called once after the last frame or the document. cut is why reading
	// ended early, nil at the end of the body. End emits Stop, or returns why the
	// reply is not whole.
	End(a *Answer, cut error) error
	// Take returns the events emitted since it was last called.
	Take() []llm.Event
}

// Queue holds events that a Reader has made and the range has not taken.
type Queue struct{ events []llm.Event }

// Emit adds an event.
func (q *Queue) Emit(e llm.Event) { q.events = append(q.events, e) }

// Take returns the events and forgets them.
func (q *Queue) Take() []llm.Event {
	events := q.events
	q.events = q.events[:0]
	return events
}

// Stream sends a call and hands what the Reader makes of the answer to yield, by
// the rules of llm.Provider: at most one error, last; nothing after a false.
func (c *Client) Stream(ctx context.Context, call Call, r Reader, yield func(llm.Event, error) bool) {
	a, err := c.Do(ctx, call)
	if err != nil {
		yield(nil, err)
		return
	}
	defer a.Close()
	s := stream{answer: a, reader: r, yield: yield}
	cut, ok := s.read()
	if !ok {
		return
	}
	if err := r.End(a, cut); err != nil {
		s.fail(err)
		return
	}
	if s.flush() {
		a.Finish()
	}
}

// stream is one range over a reply.
type stream struct {
	answer *Answer
	reader Reader
	yield  func(llm.Event, error) bool
}

// read feeds the reader until its terminal event or the end of the body. It
// returns false when the range is over: left, or ended by an error.
func (s stream) read() (cut error, ok bool) {
	document, err := s.answer.IsDocument()
	if err != nil {
		return err, true
	}
	if document {
		data, err := s.answer.Document()
		if err == nil {
			err = s.reader.Document(s.answer, data)
		}
		return nil, s.passed(err)
	}
	seen := 0
	for f, err := range s.answer.Events() {
		if err != nil {
			return err, true
		}
		seen++
		done, err := s.reader.Frame(s.answer, f)
		if err != nil && f.Cut {
			return err, true
		}
		if !s.passed(err) {
			return nil, false
		}
		if done {
			return nil, true
		}
	}
	if seen == 0 && s.answer.strange {
		return s.answer.malformed("the answer holds no event of a model's reply; check base_url"), true
	}
	return nil, true
}

// passed hands on what the reader made, then its error.
func (s stream) passed(err error) bool {
	if err != nil {
		s.fail(err)
		return false
	}
	return s.flush()
}

func (s stream) fail(err error) {
	if s.flush() {
		s.yield(nil, err)
	}
}

// flush yields the queued events. A canceled caller gets no more of them.
func (s stream) flush() bool {
	for _, e := range s.reader.Take() {
		if cause := s.answer.parent(); cause != nil {
			s.yield(nil, canceled(s.answer.client.provider, cause))
			return false
		}
		if !s.yield(e, nil) {
			return false
		}
	}
	return true
}

// Encode is the one encoder of requests (A-CTX-4): the order of struct fields, no
// escaping that JSON does not ask for, no space.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Header returns the header that carries a credential: a Key in keyHeader, as
// Bearer if that is Authorization; a Token always as Bearer; either one in
// override instead, where a gateway wants its own (D-40). Without a credential it is empty.
func (c Credential) Header(keyHeader, override string) (string, Secret) {
	name, value := keyHeader, c.Key
	if value == "" {
		name, value = "Authorization", c.Token
	}
	if value == "" {
		return "", ""
	}
	if override != "" {
		name = override
	}
	if strings.EqualFold(name, "Authorization") {
		value = "Bearer " + value
	}
	return name, value
}
