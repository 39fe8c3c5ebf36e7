package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"car/internal/assistant/project"
	"car/internal/engine/redact"
	"car/internal/engine/tool"
	"car/internal/tools/mcp"
	"car/internal/tools/webclient"
	"car/internal/tui/safe"
)

// openMCP puts the MCP servers' tools into a session's toolbox; nil is no servers.
func (h *house) openMCP(ctx context.Context, room *engineRoom, web tool.Web, redactor *redact.Redactor) (*mcp.Fleet, error) {
	if len(h.project.Servers) == 0 {
		return nil, nil
	}
	c, err := h.mcpConfig(room.substrate, web, redactor)
	if err != nil {
		return nil, err
	}
	c.Taken = func(name string) bool { _, taken := room.tools.Lookup(name); return taken }
	fleet, err := mcp.Open(ctx, c)
	if err != nil {
		return nil, usageError(err)
	}
	for _, t := range fleet.Tools() {
		if err := room.tools.Register(t); err != nil {
			h.notice(fmt.Sprintf("MCP: %v", err))
		}
	}
	for _, s := range fleet.Status() {
		for _, held := range s.Held {
			h.notice(fmt.Sprintf("MCP server %s: left out: %s", s.Slug, held))
		}
	}
	return fleet, nil
}

func (h *house) mcpConfig(sub tool.Substrate, web tool.Web, redactor *redact.Redactor) (mcp.Config, error) {
	pins, err := mcp.OpenPins(filepath.Join(h.home, "mcp-pins.json"))
	if err != nil {
		return mcp.Config{}, usageError(err)
	}
	c := mcp.Config{
		Pins: pins, Now: h.app.now, Notice: h.notice, Version: versionText(),
		Redact: func(s string) string { masked, _ := redactor.String(s); return masked },
		Log: func(name string) (io.WriteCloser, error) {
			w, _, err := sub.Spool(name)
			return w, err
		},
	}
	c.Processes, _ = sub.(tool.Servers)
	if client, ok := web.(*webclient.Client); ok {
		c.HTTP = func(base string, headers map[string]string) (*http.Client, error) {
			return client.Service(base, headers)
		}
	}
	for _, s := range h.project.Servers {
		c.Servers = append(c.Servers, h.definition(s))
	}
	return c, nil
}

// envUse is a variable in a header: ${NAME}.
var envUse = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)

// definition is a server with the values that its file only names. One that is not
// there fails that server and no other.
func (h *house) definition(s project.Server) mcp.Definition {
	d := mcp.Definition{
		Slug: s.Slug, URL: s.URL, Enabled: s.Enabled, Disabled: s.Disable, Startup: s.Startup, Call: s.Call,
		Program: tool.Program{Command: s.Command, Args: s.Args, Env: maps.Clone(s.Env), Dir: s.Cwd},
	}
	var missing []string
	value := func(name string) string {
		v := h.app.env.lookup(name)
		if v == "" {
			missing = append(missing, name)
		}
		return v
	}
	for _, name := range s.EnvFrom {
		if d.Program.Env == nil {
			d.Program.Env = map[string]string{}
		}
		d.Program.Env[name] = value(name)
	}
	for name, text := range s.Headers {
		if d.Headers == nil {
			d.Headers = map[string]string{}
		}
		d.Headers[name] = envUse.ReplaceAllStringFunc(text, func(use string) string { return value(use[2 : len(use)-1]) })
	}
	pinned := unchanged(s.Pins)
	d.Check = func() error {
		if len(missing) > 0 {
			return fmt.Errorf("variable %s is not set (%s)", strings.Join(missing, ", "), s.From)
		}
		return pinned()
	}
	return d
}

// mcpSecrets are the values that servers are given.
func (h *house) mcpSecrets() []string {
	var values []string
	for _, s := range h.project.Servers {
		d := h.definition(s)
		for _, name := range s.EnvFrom {
			values = append(values, d.Program.Env[name])
		}
		for name, v := range d.Headers {
			if v != s.Headers[name] || redact.SecretName(name) || strings.EqualFold(name, "authorization") {
				values = append(values, v, strings.TrimPrefix(v, "Bearer "))
			}
		}
	}
	return values
}

// docServer is an MCP server in a run's document.
type docServer struct {
	Name string `json:"name"`
	// State is "ok" or "failed".
	State string   `json:"state"`
	Cause string   `json:"cause,omitempty"`
	Tools int      `json:"tools"`
	Held  []string `json:"held,omitempty"`
}

// servers tells of a session's MCP servers.
func (r *engineRoom) servers() []docServer {
	if r == nil || r.mcp == nil {
		return nil
	}
	var list []docServer
	for _, s := range r.mcp.Status() {
		state := "ok"
		if s.Cause != "" {
			state = "failed"
		}
		list = append(list, docServer{Name: s.Slug, State: state, Cause: s.Cause, Tools: len(s.Tools), Held: s.Held})
	}
	return list
}

func newMCPCommand(a *app) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use: "mcp", Short: "List, check and accept MCP servers",
		Long: "MCP servers stand in .car/mcp.toml and in mcp.toml of $CAR_HOME. Those of a project wait\n" +
			"for `car trust`. What a server offers is remembered when it is first met; what it\n" +
			"changes later is not used until `car mcp accept`.",
		Example: "  car mcp list\n  car mcp check docs\n  car mcp accept docs",
	}
	cmd.PersistentFlags().StringVar(&dir, "dir", "", "the project's `folder` (default: the working directory)")
	add := func(use, short string, args cobra.PositionalArgs, do func(context.Context, *house, io.Writer, []string) error) {
		cmd.AddCommand(&cobra.Command{Use: use, Short: short, Args: args, RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.openHouse(cmd.Context(), houseOptions{dir: dir})
			if err != nil {
				return err
			}
			return errors.Join(do(cmd.Context(), h, cmd.OutOrStdout(), args), h.close())
		}})
	}
	add("list", "List the servers and what is known of them; starts nothing", cobra.NoArgs, listMCP)
	add("check [SERVER…]", "Start servers, list their tools and what changed", cobra.ArbitraryArgs, checkMCP)
	add("accept SERVER…", "Use what a server offers now", cobra.MinimumNArgs(1), acceptMCP)
	return cmd
}

func listMCP(_ context.Context, h *house, out io.Writer, _ []string) error {
	pins, err := mcp.OpenPins(filepath.Join(h.home, "mcp-pins.json"))
	if err != nil {
		return usageError(err)
	}
	for _, s := range h.project.Servers {
		how := s.URL
		if how == "" {
			how = strings.Join(append([]string{s.Command}, s.Args...), " ")
		}
		known := "not met yet"
		if list := pins.Of(h.definition(s)); list != nil {
			known = fmt.Sprintf("%d tools", len(list))
		}
		fmt.Fprintf(out, "%-16s %-12s %s  (%s)\n", s.Slug, known, safe.Line(how), safe.Line(s.From))
	}
	for _, i := range h.project.Ignored {
		if strings.HasPrefix(i.Key, "MCP server ") {
			fmt.Fprintf(out, "%s: %s (%s:%d)\n", safe.Line(i.Key), i.Why, safe.Line(i.File), i.Line)
		}
	}
	if len(h.project.Servers) == 0 {
		fmt.Fprintln(out, "no MCP server is in force")
	}
	return nil
}

// meetMCP starts the named servers, all without a name, and hands each to see.
func meetMCP(ctx context.Context, h *house, names []string, see func(mcp.Meeting) error) (err error) {
	id, err := newSessionID()
	if err != nil {
		return err
	}
	room := &engineRoom{id: id}
	if err := os.MkdirAll(h.home, 0o700); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, room.close(ctx)) }()
	if room.substrate, err = h.openSubstrate(room.id); err != nil {
		return err
	}
	judge, err := h.policyFor(room.substrate.Describe(), room.substrate.FS())
	if err != nil {
		return err
	}
	web, err := h.web(judge)
	if err != nil {
		return err
	}
	c, err := h.mcpConfig(room.substrate, web, redact.New(h.secrets()))
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.ContainsFunc(c.Servers, func(d mcp.Definition) bool { return d.Slug == name }) {
			return usageError(fmt.Errorf("no MCP server %q is in force", name), "car mcp list")
		}
	}
	failed := 0
	for _, d := range c.Servers {
		if len(names) > 0 && !slices.Contains(names, d.Slug) {
			continue
		}
		m := mcp.Meet(ctx, c, d)
		if err := see(m); err != nil {
			return err
		}
		if m.Err != nil {
			failed++
		}
	}
	if failed > 0 {
		return &exitError{code: exitFailed, cause: fmt.Errorf("%d MCP servers did not start", failed)}
	}
	return nil
}

func checkMCP(ctx context.Context, h *house, out io.Writer, names []string) error {
	return meetMCP(ctx, h, names, func(m mcp.Meeting) error {
		if m.Err != nil {
			fmt.Fprintf(out, "✗ %s: %s\n", m.Slug, safe.Line(m.Err.Error()))
			return nil
		}
		fmt.Fprintf(out, "✓ %s: %d tools\n", m.Slug, len(m.Offered))
		for _, p := range m.Offered {
			fmt.Fprintf(out, "    %s: %s\n", safe.Line(p.Name), safe.Line(p.Description))
		}
		if changes := mcp.Changes(m.Pinned, m.Offered); m.Pinned != nil && len(changes) > 0 {
			fmt.Fprintf(out, "  changed since it was first met; `car mcp accept %s` takes it:\n", m.Slug)
			for _, line := range changes {
				for part := range strings.SplitSeq(line, "\n") {
					fmt.Fprintf(out, "  %s\n", safe.Line(part))
				}
			}
		}
		return nil
	})
}

func acceptMCP(ctx context.Context, h *house, out io.Writer, names []string) error {
	return meetMCP(ctx, h, names, func(m mcp.Meeting) error {
		if m.Err != nil {
			fmt.Fprintf(out, "✗ %s: %s\n", m.Slug, safe.Line(m.Err.Error()))
			return nil
		}
		fmt.Fprintf(out, "✓ %s: %d tools are as they are now\n", m.Slug, len(m.Offered))
		return m.Accept()
	})
}
