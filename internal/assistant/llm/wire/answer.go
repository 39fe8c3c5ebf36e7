package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"sync/atomic"
	"time"

	"car/internal/assistant/llm"
)

// Answer is an answer of status 2xx whose body is being read. It is not safe for
// concurrent use. Close it, always.
type Answer struct {
	client   *Client
	request  *http.Request
	response *http.Response
	body     *bufio.Reader
	secrets  []string
	strange  bool // the body held lines that are no event stream
	watch    *watchdog
	parent   func() error // the caller's ctx.Err
	cancel   context.CancelFunc
}

func (a *Answer) open() { a.body = bufio.NewReaderSize(&watchedBody{a}, 32<<10) }

// RequestID is the server's id of the exchange, empty when it gave none.
func (a *Answer) RequestID() string { return requestID(a.response.Header) }

// Close ends the exchange and, unless its end was read, its connection.
func (a *Answer) Close() {
	a.cancel()
	if a.watch != nil {
		a.watch.stop()
	}
	if a.response != nil {
		_ = a.response.Body.Close() // the exchange is over; nothing depends on it any more
	}
}

// Finish closes an answer whose last event was read: it waits a moment for the
// end, so that the connection can be used again.
func (a *Answer) Finish() {
	a.watch.idle = a.client.drain
	var rest [512]byte
	for range 8 {
		if _, err := a.body.Read(rest[:]); err != nil {
			break
		}
	}
	a.Close()
}

// IsDocument reports whether the body is a JSON document and not a stream: some
// servers do not stream although they were asked to (A-LLM-7). It waits for the first byte.
func (a *Answer) IsDocument() (bool, error) {
	for skipped := 0; skipped < 1<<10; skipped++ {
		head, err := a.body.Peek(1)
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, a.broken(err)
		}
		switch head[0] {
		case ' ', '\n', '\r', '\t':
			if _, err := a.body.Discard(1); err != nil {
				return false, a.broken(err)
			}
		case '{', '[':
			return true, nil
		case '<':
			return false, a.malformed("the server answered with a web page; check base_url")
		default:
			return false, nil
		}
	}
	return false, nil
}

// Document reads the whole body.
func (a *Answer) Document() ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(a.body, maxAnswer+1))
	if err != nil {
		return nil, a.broken(err)
	}
	if len(data) > maxAnswer {
		return nil, a.malformed(fmt.Sprintf("the answer exceeds %d MiB", maxAnswer>>20))
	}
	return data, nil
}

// Events reads the body as server-sent events. It ends quietly at the end of the
// body: whether the reply was whole by then is the adapter's to say. An error is
// an *llm.Error, once and last.
func (a *Answer) Events() iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		frames := newFrames(a.body, maxEvent)
		for {
			f, err := frames.next()
			a.strange = frames.strange
			if errors.Is(err, io.EOF) {
				return
			}
			if errors.Is(err, errEventTooLarge) {
				yield(Frame{}, a.malformed(err.Error()))
				return
			}
			if err != nil {
				yield(Frame{}, a.broken(err))
				return
			}
			if !yield(f, nil) {
				return
			}
		}
	}
}

// Decode reads the JSON of a frame. Half an event at the end of the stream is a
// cut stream; other unreadable text is malformed.
func (a *Answer) Decode(f Frame, into any) error {
	err := json.Unmarshal(f.Data, into)
	if err == nil {
		return nil
	}
	if f.Cut {
		return a.Disconnected("the connection closed in the middle of an event")
	}
	return a.malformed("an event of the stream is not the JSON it should be")
}

// Disconnected is the error of a reply that ended before its terminal event.
func (a *Answer) Disconnected(why string) *llm.Error {
	return a.fault(llm.KindDisconnected, why, io.ErrUnexpectedEOF)
}

// Malformed is the error of an answer that cannot be understood.
func (a *Answer) Malformed(why string) *llm.Error { return a.malformed(why) }

func (a *Answer) malformed(why string) *llm.Error { return a.fault(llm.KindMalformed, why, nil) }

// Failed is the error that an event of the stream, or a document of status 200, tells.
func (a *Answer) Failed(body []byte) *llm.Error {
	return Failed(FailedAnswer{Provider: a.client.provider, Status: a.response.StatusCode, Header: a.response.Header,
		Body: bytes.Clone(body), Now: a.client.now, Secrets: a.secrets})
}

func (a *Answer) fault(kind llm.ErrorKind, why string, cause error) *llm.Error {
	return &llm.Error{Kind: kind, Provider: a.client.provider, Status: a.response.StatusCode, RequestID: a.RequestID(), Message: why, Err: cause}
}

// broken says why reading the body failed.
func (a *Answer) broken(err error) *llm.Error {
	switch {
	case a.parent() != nil:
		return canceled(a.client.provider, a.parent())
	case a.watch.fired.Load():
		return a.fault(llm.KindTimeout, "the stream stalled: nothing came for "+a.watch.limit().String(), nil)
	}
	if e, ok := asError(err); ok {
		return e
	}
	return a.fault(llm.KindDisconnected, "the connection broke off before the reply was complete", err)
}

// watchedBody is the body with the timer on its silences. The timer runs only
// while a read waits: the caller's own pauses are not the server's.
type watchedBody struct{ *Answer }

func (b *watchedBody) Read(p []byte) (int, error) {
	b.watch.resume()
	n, err := b.response.Body.Read(p)
	b.watch.pause(n > 0)
	return n, err
}

// watchdog cancels a request that says nothing for too long.
type watchdog struct {
	timer   *time.Timer
	first   time.Duration
	idle    time.Duration
	started bool // the first byte came; owned by the reader
	fired   atomic.Bool
}

// watch starts to wait for the first byte.
func watch(first, idle time.Duration, cancel func()) *watchdog {
	w := &watchdog{first: first, idle: idle}
	w.timer = time.AfterFunc(first, func() {
		w.fired.Store(true)
		cancel()
	})
	return w
}

func (w *watchdog) limit() time.Duration {
	if w.started {
		return w.idle
	}
	return w.first
}

func (w *watchdog) resume() {
	if w.started {
		w.timer.Reset(w.idle)
	}
}

func (w *watchdog) pause(progress bool) {
	if progress {
		w.started = true
	}
	if w.started {
		w.timer.Stop()
	}
}

func (w *watchdog) stop() { w.timer.Stop() }
