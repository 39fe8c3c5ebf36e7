package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"car/internal/engine/admit"
	"car/internal/engine/ir"
	"car/internal/engine/tool"
)

// Toolbox is a set of tools that can change while the engine runs (E-TOOL-1),
// in front of one that does not. A call goes to the tool registered here and,
// only when that one says by type that it is not its own, to the one behind
// (E-EXEC-4). A tool that is exclusive is alone with its name. Safe for concurrent use.
type Toolbox struct {
	behind admit.Tools

	mu     sync.RWMutex
	byName map[string]tool.Tool
	// restored, once set, are the only tools there are, and the schemas that stand for
	// theirs (E-CKPT-1).
	restored map[string]*ir.ToolSchema
}

// NewToolbox makes a toolbox in front of other tools, nil for none.
func NewToolbox(behind admit.Tools) *Toolbox {
	return &Toolbox{behind: behind, byName: map[string]tool.Tool{}}
}

// Register adds a tool, in place of one of the same name. The name of an exclusive
// tool is not to be had for another.
func (b *Toolbox) Register(t tool.Tool) error {
	name := t.Spec().Name
	if name == "" {
		return errors.New("register tool: Spec.Name is empty")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, exclusive := t.(tool.Exclusive); !exclusive && b.ownerOf(name) != nil {
		return fmt.Errorf("register tool %q: the name belongs to a tool that answers it alone", name)
	}
	b.byName[name] = t
	if b.restored != nil {
		b.restored[name] = nil
	}
	return nil
}

// Unregister takes a tool away and tells whether there was one.
func (b *Toolbox) Unregister(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, ok := b.byName[name]
	delete(b.byName, name)
	delete(b.restored, name)
	return ok
}

// ownerOf finds the exclusive tool of a name, here or behind. Holding mu.
func (b *Toolbox) ownerOf(name string) tool.Exclusive {
	if owner, ok := b.byName[name].(tool.Exclusive); ok {
		return owner
	}
	if b.behind == nil {
		return nil
	}
	back, _ := b.behind.Lookup(name)
	owner, _ := back.(tool.Exclusive)
	return owner
}

// Lookup finds a tool.
func (b *Toolbox) Lookup(name string) (tool.Tool, bool) {
	b.mu.RLock()
	front, ok := b.byName[name]
	owner := b.ownerOf(name)
	saved, listed := b.restored[name]
	hidden := b.restored != nil && !listed
	b.mu.RUnlock()
	if owner != nil {
		return owner, true
	}
	if hidden {
		return nil, false
	}
	var back tool.Tool
	found := false
	if b.behind != nil {
		back, found = b.behind.Lookup(name)
	}
	switch {
	case ok && found:
		back = fallback{front, back}
	case ok:
		back = fallback{front, nil}
	case !found && saved == nil:
		return nil, false
	}
	return standIn(back, saved), true
}

// Source is who a tool comes from: what is registered here says so itself, of the
// others the tools behind know.
func (b *Toolbox) Source(name string) ir.ToolSource {
	b.mu.RLock()
	ours, ok := b.byName[name]
	saved := b.restored[name]
	b.mu.RUnlock()
	switch {
	case ok:
		return ours.Spec().Source
	case saved != nil:
		return saved.Source
	}
	if known, ok := b.behind.(interface{ Source(string) ir.ToolSource }); ok {
		return known.Source(name)
	}
	return ir.UserDefined
}

// Schemas lists all tools by name.
func (b *Toolbox) Schemas() []ir.ToolSchema {
	all := map[string]ir.ToolSchema{}
	if b.behind != nil {
		for _, s := range b.behind.Schemas() {
			all[s.Name] = s
		}
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	for name, t := range b.byName {
		s := t.Spec()
		if x, ok := t.(tool.Exclusive); ok && !x.Listed() {
			delete(all, name)
			continue
		}
		all[name] = ir.ToolSchema{Name: name, Source: s.Source, Description: s.Description, Parameters: s.Parameters,
			Returns: s.Returns, RateLimit: s.RateLimit, CacheTTLSecs: uint64(s.CacheTTL.Seconds())}
	}
	b.limit(all)
	out := make([]ir.ToolSchema, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, all[name])
	}
	return out
}

// fallback is a tool with the one behind it, which may be nil.
type fallback struct {
	tool.Tool
	behind tool.Tool
}

// Run tries the tool, then the one behind it. Words that only sound like "not
// mine" are the tool's own failure.
func (f fallback) Run(ctx context.Context, c tool.Call, e tool.Env) (tool.Execution, error) {
	ran, err := f.Tool.Run(ctx, c, e)
	var fault *tool.Fault
	if !errors.As(err, &fault) || fault.Kind != tool.Unhandled {
		return ran, err
	}
	if f.behind == nil {
		return tool.Execution{}, fmt.Errorf("no handler for tool '%s'", c.Tool)
	}
	return f.behind.Run(ctx, c, e)
}

// Preview shows what the tool shows, if it can.
func (f fallback) Preview(ctx context.Context, c tool.Call, files tool.Files) ([]ir.Block, error) {
	if p, ok := f.Tool.(tool.Previewer); ok {
		return p.Preview(ctx, c, files)
	}
	return nil, nil
}
