package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"time"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/foreign"
)

// The bounds of a server (T-MCP-1, T-MCP-3, T-MCP-6).
const (
	usualStartup = 10 * time.Second
	maxStartup   = 60 * time.Second
	usualCall    = 60 * time.Second
	maxTools     = 128
	// firstTurn is how long the first turn waits for servers that nobody met.
	firstTurn = 10 * time.Second
	firstWait = time.Second
	longWait  = time.Minute
)

// Definition is a server as its owner describes it.
type Definition struct {
	// Slug is the server's name here: a-z, 0-9 and -, 32 at most.
	Slug string
	// Program is what is started; without a Command, URL is asked.
	Program tool.Program
	URL     string
	Headers map[string]string
	// Enabled are the only tools that are used, all where it is empty; Disabled are not used.
	Enabled, Disabled []string
	// Startup and Call bound a start and a call; 0 is 10 s and 60 s.
	Startup, Call time.Duration
	// Check, if not nil, says why the server must not start now (D-31).
	Check func() error
}

// Config is what a Fleet stands on.
type Config struct {
	Servers []Definition
	// Processes runs programs; nil runs none.
	Processes tool.Servers
	// HTTP makes a client for a service; nil reaches none.
	HTTP func(base string, headers map[string]string) (*http.Client, error)
	// Pins are the tools that were seen before.
	Pins *Pins
	// Log opens a file for what a server says on the side; nil keeps only its end.
	Log func(name string) (io.WriteCloser, error)
	// Redact masks secrets in a text.
	Redact func(string) string
	// Taken tells the names that other tools have.
	Taken func(name string) bool
	Now   func() time.Time
	// Notice tells the person something that changes nothing.
	Notice func(string)
	// Version is this program's, for servers.
	Version string
}

// Fleet is the servers of one session. Safe for concurrent use.
type Fleet struct {
	cfg     Config
	servers []*server
	// tools are what the session is lent, fixed by Open.
	tools []tool.Tool
}

// Status is a server as a person wants to know it.
type Status struct {
	Slug string
	// State is "waiting" (starts with the first call), "running" or "failed".
	State string
	// Cause says why it failed.
	Cause string
	// Tools are the names that a model sees.
	Tools []string
	// Held are tools that are not used, and why.
	Held []string
}

var slug = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// Validate says what is wrong with a definition.
func (d Definition) Validate() error {
	switch {
	case !slug.MatchString(d.Slug):
		return fmt.Errorf("server name %q: use a-z, 0-9 and -, 32 characters at most", d.Slug)
	case (d.Program.Command == "") == (d.URL == ""):
		return fmt.Errorf("server %q needs either command or url", d.Slug)
	case d.Startup < 0 || d.Startup > maxStartup:
		return fmt.Errorf("server %q: startup_timeout is 60s at most", d.Slug)
	case d.Call < 0:
		return fmt.Errorf("server %q: call_timeout is less than 0", d.Slug)
	}
	return nil
}

// Open makes the fleet. Servers whose tools are pinned are not started; the others
// are met at once, side by side, for at most 10 s. What fails is a Status, not an error.
func Open(ctx context.Context, c Config) (*Fleet, error) {
	f := &Fleet{cfg: c}
	for _, d := range c.Servers {
		if err := d.Validate(); err != nil {
			return nil, err
		}
		f.servers = append(f.servers, newServer(d, &f.cfg))
	}
	f.meet(ctx)
	f.lend()
	return f, nil
}

// meet starts the servers that nobody met and pins what they offer.
func (f *Fleet) meet(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, firstTurn)
	defer cancel()
	var group sync.WaitGroup
	for _, s := range f.servers {
		if s.pinned = f.cfg.Pins.of(s.def); s.pinned != nil {
			continue
		}
		group.Go(func() {
			if _, err := s.session(ctx); err != nil {
				f.cfg.Notice(fmt.Sprintf("MCP server %s is not there: %v", s.def.Slug, err))
				return
			}
			s.pinned = s.offered()
			if err := f.cfg.Pins.put(s.def, s.pinned); err != nil {
				f.cfg.Notice(fmt.Sprintf("MCP server %s: its tools could not be remembered: %v", s.def.Slug, err))
			}
		})
	}
	group.Wait()
}

// lend makes the tools, each under a name that is nobody else's (T-SET-6).
func (f *Fleet) lend() {
	var names foreign.Table
	for _, s := range f.servers {
		for i, p := range s.pinned {
			if i == maxTools {
				s.hold(fmt.Sprintf("%d more tools: a server may have %d", len(s.pinned)-maxTools, maxTools))
				break
			}
			if len(s.def.Enabled) > 0 && !slices.Contains(s.def.Enabled, p.Name) || slices.Contains(s.def.Disabled, p.Name) {
				continue
			}
			t, err := f.toolOf(&names, s, p)
			if err != nil {
				s.hold(fmt.Sprintf("%s: %v", foreign.Name(p.Name), err))
				continue
			}
			s.lent = append(s.lent, t.spec.Name)
			f.tools = append(f.tools, t)
		}
	}
}

func (f *Fleet) toolOf(names *foreign.Table, s *server, p Pin) (*remote, error) {
	if foreign.Name(p.Name) == "" {
		return nil, errors.New("it has no name that can be shown")
	}
	schema, err := foreign.Schema(p.Schema)
	if err != nil {
		return nil, err
	}
	name, err := names.Add("mcp_"+s.def.Slug+"_"+p.Name, "MCP server "+s.def.Slug)
	if err != nil {
		return nil, err
	}
	if f.cfg.Taken != nil && f.cfg.Taken(name) {
		return nil, fmt.Errorf("there is a tool %q already", name)
	}
	return &remote{server: s, pin: p, spec: tool.Spec{
		Name: name, Description: foreign.Description(p.Description), Parameters: schema, Effect: tool.Outward, Category: "mcp",
		Timeout: s.def.Call + s.def.Startup + 5*time.Second, Source: ir.MCP, Version: p.digest(),
	}}, nil
}

// Tools are what the session is lent, the same as long as it lasts.
func (f *Fleet) Tools() []tool.Tool { return f.tools }

// Status tells how the servers are, in the order of their definitions.
func (f *Fleet) Status() []Status {
	var list []Status
	for _, s := range f.servers {
		list = append(list, s.status())
	}
	return list
}

// Close ends the servers and waits for them.
func (f *Fleet) Close() error {
	if f == nil {
		return nil
	}
	var group sync.WaitGroup
	for _, s := range f.servers {
		group.Go(s.close)
	}
	group.Wait()
	return nil
}
