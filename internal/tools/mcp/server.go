package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"car/internal/engine/tool"
	"car/internal/tools/foreign"
	"car/internal/tools/wire"
)

// server is one server of a fleet.
type server struct {
	// fixed at creation
	def Definition
	cfg *Config
	// fixed by Open
	pinned []Pin
	lent   []string
	held   []string

	// starting is held by whoever starts the server, so that nobody starts it twice.
	starting sync.Mutex

	mu     sync.Mutex
	live   *sdk.ClientSession
	stop   func()
	list   []Pin
	closed bool
	// cause is why the last start or session ended; after is when to try again.
	cause  error
	after  time.Time
	wait   time.Duration
	noted  bool
	tokens uint64
	// progress are the calls under way, by their token.
	progress map[string]func(string)
}

func newServer(d Definition, c *Config) *server {
	if d.Startup == 0 {
		d.Startup = usualStartup
	}
	if d.Call == 0 {
		d.Call = usualCall
	}
	return &server{def: d, cfg: c, progress: map[string]func(string){}}
}

func (s *server) hold(why string) { s.held = append(s.held, why) }

func (s *server) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Status{Slug: s.def.Slug, State: "waiting", Tools: s.lent, Held: s.held}
	switch {
	case s.live != nil:
		out.State = "running"
	case s.cause != nil:
		out.State, out.Cause = "failed", s.cause.Error()
	}
	return out
}

// offered is what the server offered when it was last started.
func (s *server) offered() []Pin {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

// session is the running server, started if it is not.
func (s *server) session(ctx context.Context) (*sdk.ClientSession, error) {
	s.starting.Lock()
	defer s.starting.Unlock()
	s.mu.Lock()
	live, pause, cause, closed := s.live, s.after.Sub(s.cfg.Now()), s.cause, s.closed
	s.mu.Unlock()
	switch {
	case live != nil:
		return live, nil
	case closed:
		return nil, errors.New("the session is closed")
	case pause > 0:
		return nil, fmt.Errorf("%w (tried again in %s)", cause, pause.Round(time.Second))
	}
	live, err := s.start(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.failed(err)
		return nil, s.cause
	}
	s.live, s.cause, s.wait = live, nil, 0
	return live, nil
}

// failed notes why there is no server and how long to leave it alone. Holding mu.
func (s *server) failed(err error) {
	s.cause = errors.New(foreign.Description(s.cfg.Redact(oneLine(err.Error()))))
	s.wait = min(max(2*s.wait, firstWait), longWait)
	s.after = s.cfg.Now().Add(s.wait)
}

func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

// start starts the server and asks for its tools, within the startup timeout.
func (s *server) start(ctx context.Context) (*sdk.ClientSession, error) {
	if s.def.Check != nil {
		if err := s.def.Check(); err != nil {
			return nil, err
		}
	}
	link, err := s.dial(ctx)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, s.def.Startup)
	defer cancel()
	type met struct {
		live *sdk.ClientSession
		list []Pin
		err  error
	}
	done := make(chan met, 1)
	go func() {
		live, err := s.client().Connect(limited, link.transport, nil)
		if err != nil {
			done <- met{err: err}
			return
		}
		list, err := toolsOf(limited, live)
		done <- met{live, list, err}
	}()
	var m met
	select {
	case m = <-done:
	case <-limited.Done():
		m.err = limited.Err()
	}
	if m.err != nil {
		link.end()
		if errors.Is(m.err, context.DeadlineExceeded) {
			m.err = fmt.Errorf("it did not answer within %s", s.def.Startup)
		}
		return nil, link.explain(m.err)
	}
	s.mu.Lock()
	s.list, s.stop = m.list, link.end
	s.mu.Unlock()
	go s.watch(m.live, link)
	s.compare(m.list)
	return m.live, nil
}

// watch notes the end of a session, whoever ended it. It ends with the session,
// which close ends.
func (s *server) watch(live *sdk.ClientSession, link *link) {
	err := live.Wait()
	link.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live != live {
		return
	}
	s.live = nil
	if err == nil {
		err = errors.New("it ended")
	}
	s.failed(link.explain(err))
}

// compare tells once that a server offers something else than a person saw.
func (s *server) compare(list []Pin) {
	if s.pinned == nil || len(Changes(s.pinned, list)) == 0 {
		return
	}
	s.mu.Lock()
	first := !s.noted
	s.noted = true
	s.mu.Unlock()
	if first {
		s.cfg.Notice(fmt.Sprintf("MCP server %s offers other tools than before; see `car mcp check %s`", s.def.Slug, s.def.Slug))
	}
}

// quarantined says why a tool is not used: it is no longer what a person saw.
func (s *server) quarantined(p Pin) error {
	for _, now := range s.offered() {
		if now.Name == p.Name && now.digest() == p.digest() {
			return nil
		}
	}
	return wire.Fault(tool.Denied, "denied by policy: the tool changed since it was first seen; a person can look at it with `car mcp check %s` and accept it", s.def.Slug)
}

// client offers a server nothing (T-MCP-4).
func (s *server) client() *sdk.Client {
	return sdk.NewClient(&sdk.Implementation{Name: "car", Version: s.cfg.Version}, &sdk.ClientOptions{
		Capabilities:   &sdk.ClientCapabilities{},
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {
			s.mu.Lock()
			first := !s.noted
			s.noted = true
			s.mu.Unlock()
			if first {
				s.cfg.Notice(fmt.Sprintf("MCP server %s says that its tools changed; see `car mcp check %s`", s.def.Slug, s.def.Slug))
			}
		},
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			token, _ := r.Params.ProgressToken.(string)
			s.mu.Lock()
			tell := s.progress[token]
			s.mu.Unlock()
			if tell != nil {
				tell(foreign.Name(r.Params.Message))
			}
		},
	})
}

// toolsOf asks for all tools, a bounded number.
func toolsOf(ctx context.Context, live *sdk.ClientSession) ([]Pin, error) {
	var list []Pin
	if caps := live.InitializeResult(); caps != nil && caps.Capabilities != nil && caps.Capabilities.Tools == nil {
		return nil, nil
	}
	for t, err := range live.Tools(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("list its tools: %w", err)
		}
		schema, err := json.Marshal(t.InputSchema)
		if err != nil || t.InputSchema == nil {
			schema = nil
		}
		list = append(list, Pin{Name: t.Name, Description: t.Description, Schema: schema})
		if len(list) == 2*maxTools {
			break
		}
	}
	return list, nil
}

// close ends the server for good.
func (s *server) close() {
	s.mu.Lock()
	live, stop := s.live, s.stop
	s.closed, s.live = true, nil
	s.mu.Unlock()
	if stop != nil {
		stop()
	}
	if live != nil {
		_ = live.Close()
	}
}
