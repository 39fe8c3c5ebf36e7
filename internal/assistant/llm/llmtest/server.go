package llmtest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"car/internal/assistant/llm"
	"car/internal/assistant/llm/wire"
)

// Wire is a provider's format: how the server of it writes what a Reply says.
type Wire struct {
	// New makes the provider under test for a base URL; change sets limits and headers.
	New func(t *testing.T, base string, change func(*wire.Config)) llm.Provider
	// Frames are the server-sent events of a reply, each with its blank line.
	Frames func(Reply) [][]byte
	// Terminal is how many of Frames, from the end, a reader does not need to know
	// that the reply is whole: cutting them off leaves a whole reply.
	Terminal int
	// Document is the reply as one JSON document.
	Document func(Reply) []byte
	// Refusal is an error's status and body, ErrorFrame an error inside a stream.
	Refusal    func(llm.ErrorKind) (int, []byte)
	ErrorFrame func(llm.ErrorKind) []byte
}

// stallLimit is the silence after which a provider that meets FaultStall gives up.
// Others wait as long as they do in life: a busy machine is no stall.
const stallLimit = 100 * time.Millisecond

// Provider plays over HTTP (Driver).
func (w Wire) Provider(t *testing.T, plays ...Play) llm.Provider {
	var mu sync.Mutex
	n := 0
	idle := time.Duration(0)
	for _, p := range plays {
		if p.Fault.Kind == FaultStall {
			idle = stallLimit
		}
	}
	return w.serveIdle(t, idle, func(rw http.ResponseWriter, r *http.Request) {
		mu.Lock()
		play := plays[min(n, len(plays)-1)]
		n++
		mu.Unlock()
		w.play(rw, r, play)
	})
}

// serve starts a loopback server and makes a provider for it. Both end with the test.
func (w Wire) serve(t *testing.T, h http.HandlerFunc) llm.Provider {
	t.Helper()
	return w.serveIdle(t, 0, h)
}

func (w Wire) serveIdle(t *testing.T, idle time.Duration, h http.HandlerFunc) llm.Provider {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		// Reading the body lets the server notice when the client is gone.
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		h(rw, r)
	}))
	t.Cleanup(s.Close)
	p := w.New(t, s.URL, func(c *wire.Config) { c.Idle = idle })
	if c, ok := p.(io.Closer); ok {
		t.Cleanup(func() { _ = c.Close() })
	}
	return p
}

func (w Wire) play(rw http.ResponseWriter, r *http.Request, p Play) {
	if p.Fault.Kind == FaultRefuse {
		status, body := w.Refusal(p.Fault.Error)
		if p.Fault.RetryAfterSeconds > 0 {
			rw.Header().Set("Retry-After", strconv.Itoa(p.Fault.RetryAfterSeconds))
		}
		rw.WriteHeader(status)
		_, _ = rw.Write(body)
		return
	}
	rw.Header().Set("Content-Type", "text/event-stream")
	frames := w.Frames(p.Reply)
	if p.Fault.Kind == NoFault {
		_, _ = rw.Write(bytes.Join(frames, nil))
		return
	}
	// Halfway, counted in frames, is in the middle of the text of the suite's reply.
	text := w.Frames(Reply{Text: p.Reply.Text, Chunk: p.Reply.Chunk})
	_, _ = rw.Write(bytes.Join(frames[:len(text)/2], nil))
	_ = http.NewResponseController(rw).Flush()
	switch p.Fault.Kind {
	case FaultCut:
		panic(http.ErrAbortHandler)
	case FaultError:
		_, _ = rw.Write(w.ErrorFrame(p.Fault.Error))
	case FaultStall:
		<-r.Context().Done()
	}
}
