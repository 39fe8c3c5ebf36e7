package llmtest

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"car/internal/assistant/llm"
)

// RunHTTP holds an adapter to the contract and to what connections do.
func RunHTTP(t *testing.T, w Wire) {
	Run(t, w)
	for name, test := range map[string]func(*testing.T, Wire){
		"split at every byte":               splits,
		"cut at every byte":                 cuts,
		"cut at every event, by a reset":    resets,
		"other spellings of a stream":       spellings,
		"a document instead of a stream":    documents,
		"answers that are no reply":         nonsense,
		"retry-after as a date":             dates,
		"leaving closes the connection":     closes,
		"a finished reply leaves it usable": reuses,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, w)
		})
	}
}

// full is a reply with every kind of event.
func full() Reply {
	return Reply{Thinking: "é漢", Text: "Hi 漢😀.", Chunk: 5, Usage: &llm.Usage{Input: 9, Output: 4, CacheRead: 1},
		Calls: []Call{{"id_1", "read_file", `{"p" : "é😀"}`}, {"id_2", "list_dir", ""}}}
}

// body makes a provider whose server answers with the given bytes, request by request.
func (w Wire) body(t *testing.T, write func(rw http.ResponseWriter, n int)) llm.Provider {
	var n atomic.Int32
	return w.serve(t, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		write(rw, int(n.Add(1))-1)
	})
}

// Bytes arrive one by one, inside characters, escapes and line ends; the events are the same.
func splits(t *testing.T, w Wire) {
	data := bytes.Join(w.Frames(full()), nil)
	p := w.body(t, func(rw http.ResponseWriter, _ int) {
		for i := range data {
			_, _ = rw.Write(data[i : i+1])
			_ = http.NewResponseController(rw).Flush()
		}
	})
	o := observe(t, p)
	CheckReply(t, o, full())
	whole := observe(t, w.Provider(t, Play{Reply: full()}))
	if diff := cmp.Diff(whole.Events, o.Events, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".RequestID" }, cmp.Ignore())); diff != "" {
		t.Errorf("split and whole differ: %s", diff)
	}
}

// P-STREAM-1, B051: wherever a body ends quietly, a reply is whole or it is an error of which no call is left.
func cuts(t *testing.T, w Wire) {
	frames := w.Frames(full())
	data := bytes.Join(frames, nil)
	needed := len(bytes.Join(frames[:len(frames)-w.Terminal], nil)) - 2 // its blank line is not needed
	p := w.body(t, func(rw http.ResponseWriter, n int) { _, _ = rw.Write(data[:min(n, len(data))]) })
	for n := range len(data) + 1 {
		o := observe(t, p)
		switch {
		case o.Err == nil && n < needed:
			t.Fatalf("a reply cut at byte %d of %d is taken for whole: %+v", n, len(data), o.Reply)
		case o.Err == nil:
			if len(o.Reply.Message.Calls()) != 2 {
				t.Fatalf("cut at byte %d of %d: %d calls", n, len(data), len(o.Reply.Message.Calls()))
			}
		case n >= needed:
			t.Fatalf("cut at byte %d of %d, %d are needed: %v", n, len(data), needed, o.Err)
		case o.Err.Kind != llm.KindDisconnected:
			t.Fatalf("cut at byte %d: %s (%v), want disconnected", n, o.Err.Kind, o.Err)
		case !strings.HasPrefix(full().Text, o.Reply.Message.Text()) || len(o.Reply.Message.Calls()) != 0:
			t.Fatalf("cut at byte %d leaves %+v", n, o.Reply.Message)
		}
	}
}

// The same by a connection that is reset between events.
func resets(t *testing.T, w Wire) {
	frames := w.Frames(full())
	p := w.body(t, func(rw http.ResponseWriter, n int) {
		_, _ = rw.Write(bytes.Join(frames[:n], nil))
		_ = http.NewResponseController(rw).Flush()
		panic(http.ErrAbortHandler)
	})
	for n := range len(frames) - w.Terminal {
		o := observe(t, p)
		if o.Err == nil || o.Err.Kind != llm.KindDisconnected && n > 0 || !o.Err.Retryable() || len(o.Reply.Message.Calls()) != 0 {
			t.Fatalf("reset after %d of %d events: %v %+v", n, len(frames), o.Err, o.Reply.Message)
		}
	}
}

// A-LLM-5: CRLF, comments, unnamed events, data over several lines, no last blank line.
func spellings(t *testing.T, w Wire) {
	frames := w.Frames(full())
	data := string(bytes.Join(frames, nil))
	unnamed := ""
	for line := range strings.Lines(data) {
		if !strings.HasPrefix(line, "event:") {
			unnamed += line
		}
	}
	for name, text := range map[string]string{
		"CRLF":                strings.ReplaceAll(data, "\n", "\r\n"),
		"CR":                  strings.ReplaceAll(data, "\n", "\r"),
		"comments":            ": hello\n\n" + strings.ReplaceAll(data, "\n\n", "\n\n: keep-alive\n\n"),
		"unnamed events":      unnamed,
		"no space":            strings.ReplaceAll(data, "data: ", "data:"),
		"several data lines":  strings.ReplaceAll(data, "data: {", "data: {\ndata: "),
		"no last blank line":  strings.TrimSuffix(data, "\n"),
		"leading blank lines": "\n\n" + data,
		"ids and retry":       strings.ReplaceAll(data, "data: ", "id: 1\nretry: 10\ndata: "),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			CheckReply(t, observe(t, w.body(t, func(rw http.ResponseWriter, _ int) { _, _ = fmt.Fprint(rw, text) })), full())
		})
	}
}

// A-LLM-7: a server that does not stream is read all the same, and so is its error on status 200.
func documents(t *testing.T, w Wire) {
	for name, r := range Replies() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			CheckReply(t, observe(t, w.body(t, func(rw http.ResponseWriter, _ int) {
				rw.Header().Set("Content-Type", "application/json")
				_, _ = fmt.Fprintf(rw, "\n %s", w.Document(r))
			})), r)
		})
	}
	_, body := w.Refusal(llm.KindOverloaded)
	o := observe(t, w.body(t, func(rw http.ResponseWriter, _ int) { _, _ = rw.Write(body) }))
	if o.Err == nil || o.Err.Kind != llm.KindOverloaded {
		t.Errorf("an error document gives %v, want overloaded", o.Err)
	}
}

// A-LLM-5: what cannot be understood is an error, never an empty reply.
func nonsense(t *testing.T, w Wire) {
	first := string(w.Frames(full())[0])
	for name, tc := range map[string]struct {
		text string
		kind llm.ErrorKind
	}{
		"nothing":             {"", llm.KindDisconnected},
		"a web page":          {"<!doctype html><title>Sign in</title>", llm.KindMalformed},
		"plain text":          {"it works!\n", llm.KindMalformed},
		"no JSON":             {first + "data: {\"a\": nonsense}\n\n", llm.KindMalformed},
		"JSON of other shape": {first + "data: [1,2]\n\n", llm.KindMalformed},
		"another document":    {`{"hello":"world"}`, llm.KindMalformed},
		"half a document":     {string(w.Document(full()))[:40], llm.KindMalformed},
		"an endless event":    {first + "data: " + strings.Repeat("x", 5<<20) + "\n\n", llm.KindMalformed},
		"only comments":       {": waiting\n\n: waiting\n\n", llm.KindDisconnected},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := observe(t, w.body(t, func(rw http.ResponseWriter, _ int) { _, _ = fmt.Fprint(rw, tc.text) }))
			if o.Err == nil || o.Err.Kind != tc.kind {
				t.Errorf("error %v, want %s", o.Err, tc.kind)
			}
		})
	}
}

// B061: a date counts from the answer's own clock.
func dates(t *testing.T, w Wire) {
	p := w.serve(t, func(rw http.ResponseWriter, _ *http.Request) {
		at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
		rw.Header().Set("Date", at.Format(http.TimeFormat))
		rw.Header().Set("Retry-After", at.Add(7*time.Second).Format(http.TimeFormat))
		status, body := w.Refusal(llm.KindRateLimited)
		rw.WriteHeader(status)
		_, _ = rw.Write(body)
	})
	if o := observe(t, p); o.Err == nil || o.Err.RetryAfter != 7*time.Second {
		t.Errorf("error %+v, want a wait of 7 s", o.Err)
	}
}

// A-LLM-1: the server sees at once that nobody listens any more.
func closes(t *testing.T, w Wire) {
	gone := make(chan struct{}, 1)
	frames := w.Frames(Reply{Text: "some text"})
	p := w.serve(t, func(rw http.ResponseWriter, r *http.Request) {
		_, _ = rw.Write(bytes.Join(frames[:len(frames)/2], nil))
		_ = http.NewResponseController(rw).Flush()
		<-r.Context().Done()
		gone <- struct{}{}
	})
	for e := range p.Stream(t.Context(), Request()) {
		if _, ok := e.(llm.Text); ok {
			break
		}
	}
	select {
	case <-gone:
	case <-time.After(5 * time.Second):
		t.Error("the connection is still open")
	}
}

// One connection serves replies that ended well.
func reuses(t *testing.T, w Wire) {
	remotes := make(chan string, 3)
	frames := bytes.Join(w.Frames(full()), nil)
	p := w.serve(t, func(rw http.ResponseWriter, r *http.Request) {
		remotes <- r.RemoteAddr
		_, _ = rw.Write(frames)
	})
	for range cap(remotes) {
		CheckReply(t, observe(t, p), full())
	}
	first := <-remotes
	for range cap(remotes) - 1 {
		if next := <-remotes; next != first {
			t.Errorf("connections %s and %s for replies in a row", first, next)
		}
	}
}
