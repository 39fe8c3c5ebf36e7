package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/foreign"
	"car/internal/tools/wire"
)

// maxResult is the most that a call brings, in bytes (T-MCP-7).
const maxResult = 1<<20 - 64<<10

// remote is one tool of a server.
type remote struct {
	server *server
	pin    Pin
	spec   tool.Spec
}

// Spec says what the tool is, in the server's cleaned words.
func (r *remote) Spec() tool.Spec { return r.spec }

// Effects declares nothing: what a server does, nobody knows.
func (r *remote) Effects(tool.Call) (tool.Effects, error) { return tool.Effects{}, nil }

// Preview shows who is asked what.
func (r *remote) Preview(_ context.Context, call tool.Call, _ tool.Files) ([]ir.Block, error) {
	args, err := json.MarshalIndent(call.Params, "", "  ")
	if err != nil {
		return nil, err
	}
	return []ir.Block{{Kind: ir.BlockText, Title: "asks MCP server " + r.server.def.Slug, Text: foreign.Name(r.pin.Name) + " " + foreign.Text(string(args))}}, nil
}

// Run asks the server. It returns with ctx, and the server is told.
func (r *remote) Run(ctx context.Context, call tool.Call, env tool.Env) (tool.Execution, error) {
	s := r.server
	live, err := s.session(ctx)
	if ctx.Err() != nil {
		return tool.Execution{}, wire.Canceled(ctx.Err())
	}
	if err != nil {
		return tool.Execution{}, wire.Fault(tool.Failed, "server %s is not running: %v", s.def.Slug, err)
	}
	if err := s.quarantined(r.pin); err != nil {
		return tool.Execution{}, err
	}
	limited, cancel := context.WithTimeout(ctx, s.def.Call)
	defer cancel()
	params := &sdk.CallToolParams{Name: r.pin.Name, Arguments: call.Params}
	token, forget := s.track(env.Progress)
	defer forget()
	params.SetProgressToken(token)
	type answer struct {
		result *sdk.CallToolResult
		err    error
	}
	done := make(chan answer, 1)
	go func() {
		result, err := live.CallTool(limited, params)
		done <- answer{result, err}
	}()
	select {
	case a := <-done:
		if a.err != nil {
			return tool.Execution{}, r.failed(ctx, limited, a.err)
		}
		return r.result(a.result)
	case <-limited.Done(): // a server may be deaf to its cancellation
		return tool.Execution{}, r.failed(ctx, limited, limited.Err())
	}
}

// track gives a call a token under which its progress is told.
func (s *server) track(tell func(string)) (token string, forget func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens++
	token = fmt.Sprintf("%s-%d", s.def.Slug, s.tokens)
	s.progress[token] = tell
	return token, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.progress, token)
	}
}

// failed words why a call brought nothing. A server that dies in a call is not asked
// again by itself: nobody knows what it had done.
func (r *remote) failed(ctx, limited context.Context, err error) error {
	name := r.server.def.Slug
	switch {
	case ctx.Err() != nil:
		return wire.Canceled(ctx.Err())
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		return wire.Fault(tool.TimedOut, "server %s had not answered after %s; call_timeout in mcp.toml sets how long", name, r.server.def.Call)
	}
	text := foreign.Description(oneLine(err.Error()))
	var answered *jsonrpc.Error
	if !errors.As(err, &answered) {
		return wire.Fault(tool.Failed, "server %s ended during the call, and nobody knows what it had done: %s", name, text)
	}
	return wire.Fault(tool.Failed, "server %s: %s", name, text)
}

type output struct {
	Text       string `json:"text"`
	Structured any    `json:"structured,omitempty"`
	Truncated  bool   `json:"truncated,omitempty"`
	// Bytes counts all text, where Text is not all of it.
	Bytes int `json:"bytes,omitempty"`
}

// result makes a result of what a server answered.
func (r *remote) result(a *sdk.CallToolResult) (tool.Execution, error) {
	text := foreign.Text(textOf(a.Content))
	source := "MCP server " + r.server.def.Slug
	if a.NeedsInput() {
		return tool.Execution{}, wire.Fault(tool.Unsupported, "server %s wants to ask a person something in the middle of a call, which is not offered", r.server.def.Slug)
	}
	if a.IsError {
		return tool.Execution{}, &tool.Fault{Kind: tool.Failed, Text: fmt.Sprintf("server %s answered with an error: %s", r.server.def.Slug, foreign.Description(oneLine(text)))}
	}
	out := output{Structured: cleaned(a.StructuredContent, 0)}
	if data, err := json.Marshal(out.Structured); err != nil || len(data) > maxResult/2 {
		out.Structured, out.Truncated = nil, true
		text += fmt.Sprintf("\n[structured content of %d bytes left out]", len(data))
	}
	if len(text) > maxResult/2 {
		out.Bytes, out.Truncated = len(text), true
		text = ir.TruncateKeepingEnds(text, maxResult/2)
	}
	out.Text = foreign.Fence(source, text)
	shaped, err := wire.Out(out)
	return tool.Execution{Output: shaped}, err
}

// textOf joins the content of an answer; what is no text is named with its size.
func textOf(content []sdk.Content) string {
	var parts []string
	for _, c := range content {
		switch c := c.(type) {
		case *sdk.TextContent:
			parts = append(parts, c.Text)
		case *sdk.ImageContent:
			parts = append(parts, fmt.Sprintf("[image %s, %d bytes, not shown]", c.MIMEType, len(c.Data)))
		case *sdk.AudioContent:
			parts = append(parts, fmt.Sprintf("[audio %s, %d bytes, not shown]", c.MIMEType, len(c.Data)))
		case *sdk.ResourceLink:
			parts = append(parts, fmt.Sprintf("[link %s: %s]", c.Name, c.URI))
		case *sdk.EmbeddedResource:
			if c.Resource == nil {
				continue
			}
			if c.Resource.Text != "" {
				parts = append(parts, c.Resource.Text)
				continue
			}
			parts = append(parts, fmt.Sprintf("[resource %s, %s, %d bytes, not shown]", c.Resource.URI, c.Resource.MIMEType, len(c.Resource.Blob)))
		default:
			parts = append(parts, "[content of an unknown kind, not shown]")
		}
	}
	return strings.Join(parts, "\n")
}

// cleaned takes out of a value what must not reach a model or a terminal.
func cleaned(v any, depth int) any {
	if depth > 64 {
		return "[deeper than 64, left out]"
	}
	switch v := v.(type) {
	case string:
		return foreign.Text(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = cleaned(v[i], depth+1)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name := range v {
			out[foreign.Text(name)] = cleaned(v[name], depth+1)
		}
		return out
	}
	return v
}
