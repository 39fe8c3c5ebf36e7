package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"car/internal/engine/tool"
	"car/internal/tools/foreign"
)

// The bounds of what a server sends (T-MCP-5).
const (
	maxLine = 8 << 20
	maxLog  = 1 << 20
	maxTail = 512
)

// link is the way to a server. end may be called more than once and returns when the
// server is gone.
type link struct {
	transport sdk.Transport
	end       func()
	// explain adds what is known of the server's end to an error.
	explain func(error) error
}

func (s *server) dial(ctx context.Context) (*link, error) {
	if s.def.URL != "" {
		return s.dialHTTP()
	}
	return s.dialProgram(ctx)
}

func (s *server) dialHTTP() (*link, error) {
	if s.cfg.HTTP == nil {
		return nil, errors.New("the network is off")
	}
	client, err := s.cfg.HTTP(s.def.URL, s.def.Headers)
	if err != nil {
		return nil, err
	}
	return &link{
		transport: &sdk.StreamableClientTransport{Endpoint: s.def.URL, HTTPClient: client, MaxRetries: 2, MaxEventSize: maxLine, DisableStandaloneSSE: true},
		end:       func() {}, explain: func(err error) error { return err },
	}, nil
}

// dialProgram starts the program. It outlives the call that started it and ends with
// the link.
func (s *server) dialProgram(ctx context.Context) (*link, error) {
	if s.cfg.Processes == nil {
		return nil, errors.New("this substrate runs no servers")
	}
	said := &side{redact: s.cfg.Redact}
	if s.cfg.Log != nil {
		log, err := s.cfg.Log("mcp-" + s.def.Slug + ".log")
		if err != nil {
			return nil, err
		}
		said.log = log
	}
	running, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	theirs, ours := io.Pipe()   // to the program
	answers, lines := io.Pipe() // from it
	filter := &messages{to: lines, tooLong: func() { cancel(errTooLong) }}
	gone := make(chan struct{})
	var exit tool.Exit
	var failure error
	go func() {
		defer close(gone)
		exit, failure = s.cfg.Processes.RunServer(running, s.def.Program, theirs, filter, said)
		_ = lines.CloseWithError(io.EOF)
		said.close()
	}()
	return &link{
		transport: &sdk.IOTransport{Reader: answers, Writer: ours, MaxLineLength: maxLine + 1},
		end: func() {
			cancel(nil)
			_ = answers.Close() // whoever still writes is not waited for
			_ = ours.Close()
			<-gone
		},
		explain: func(err error) error {
			select {
			case <-gone:
			default:
				return err
			}
			return ended(err, context.Cause(running), failure, exit, filter.dropped(), said.end())
		},
	}, nil
}

var errTooLong = errors.New("it sent a message of more than 8 MiB")

// ended words how a program went away.
func ended(err, cause, failure error, exit tool.Exit, dropped int, said string) error {
	var f *tool.Fault
	text := err.Error()
	switch {
	case errors.Is(cause, errTooLong):
		text = errTooLong.Error() + " and was ended"
	case errors.As(failure, &f) && f.Kind != tool.Canceled:
		text = f.Text
	case failure != nil: // it was ended from here
	case exit.Signal != "":
		text = "it was ended by signal " + exit.Signal
	default:
		text = fmt.Sprintf("it ended with code %d", exit.Code)
	}
	if dropped > 0 {
		text += fmt.Sprintf("; %d lines on its output were no messages", dropped)
	}
	if said != "" {
		text += "; it said: " + said
	}
	return errors.New(text)
}

// messages passes on the lines that are JSON objects and drops the others: banners
// and debugging are common on a stream that is not for them.
type messages struct {
	to      io.Writer
	tooLong func()

	mu      sync.Mutex
	pending []byte
	drops   int
}

// Write takes output as it comes.
func (m *messages) Write(p []byte) (int, error) {
	rest := p
	for len(rest) > 0 {
		i := bytes.IndexByte(rest, '\n')
		part := rest
		if i >= 0 {
			part = rest[:i]
		}
		if len(m.pending)+len(part) > maxLine {
			m.tooLong()
			return 0, errTooLong
		}
		m.pending = append(m.pending, part...)
		if i < 0 {
			break
		}
		rest = rest[i+1:]
		if err := m.line(); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

func (m *messages) line() error {
	line := bytes.TrimSpace(m.pending)
	defer func() { m.pending = m.pending[:0] }()
	if len(line) == 0 {
		return nil
	}
	if line[0] != '{' && line[0] != '[' || !json.Valid(line) {
		m.mu.Lock()
		m.drops++
		m.mu.Unlock()
		return nil
	}
	_, err := m.to.Write(append(line, '\n'))
	return err
}

func (m *messages) dropped() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.drops
}

// side is what a server says beside its messages: masked, the first MiB in a file,
// the end for messages to people.
type side struct {
	redact func(string) string
	log    io.WriteCloser

	mu      sync.Mutex
	pending []byte
	written int
	tail    string
}

// Write takes the words line by line, since a secret may come in two parts.
func (s *side) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = append(s.pending, p...)
	if i := bytes.LastIndexByte(s.pending, '\n'); i >= 0 || len(s.pending) > 64<<10 {
		if i < 0 {
			i = len(s.pending) - 1
		}
		s.keep(string(s.pending[:i+1]))
		s.pending = append(s.pending[:0], s.pending[i+1:]...)
	}
	return len(p), nil
}

func (s *side) keep(text string) {
	text = foreign.Text(s.redact(text))
	s.tail += text
	if drop := len(s.tail) - maxTail; drop > 0 {
		s.tail = strings.ToValidUTF8(s.tail[drop:], "")
	}
	if s.log == nil || s.written+len(text) > maxLog {
		return
	}
	n, err := io.WriteString(s.log, text)
	s.written += n
	if err != nil {
		s.written = maxLog // a full disk is no reason to end a server
	}
}

func (s *side) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pending) > 0 {
		s.keep(string(s.pending))
		s.pending = nil
	}
	if s.log != nil {
		_ = s.log.Close()
	}
}

func (s *side) end() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return oneLine(strings.TrimSpace(s.tail))
}
