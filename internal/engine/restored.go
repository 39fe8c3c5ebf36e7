package engine

import (
	"context"
	"encoding/json"
	"fmt"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
)

// Restore makes these the only tools there are (E-CKPT-1). Each has the schema that
// was saved with it, else its own; one that is not registered any more is listed,
// judged as if it could do everything, and has no handler. What is registered later
// is there too.
func (b *Toolbox) Restore(names []string, saved []ir.ToolSchema) {
	schemas := make(map[string]ir.ToolSchema, len(saved))
	for _, s := range saved {
		schemas[s.Name] = s
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.restored = make(map[string]*ir.ToolSchema, len(names))
	for _, name := range names {
		s, ok := schemas[name]
		switch {
		case ok:
			b.restored[name] = &s
		case b.registered(name):
			b.restored[name] = nil
		default:
			b.restored[name] = &ir.ToolSchema{Name: name, Source: ir.UserDefined, Parameters: json.RawMessage(`{}`)}
		}
	}
}

// registered reports a tool here or behind. The caller holds mu.
func (b *Toolbox) registered(name string) bool {
	if _, ok := b.byName[name]; ok || b.behind == nil {
		return ok
	}
	_, ok := b.behind.Lookup(name)
	return ok
}

// limit leaves of all schemas those that were restored. The caller holds mu.
func (b *Toolbox) limit(all map[string]ir.ToolSchema) {
	if b.restored == nil {
		return
	}
	for name := range all {
		if _, listed := b.restored[name]; !listed {
			delete(all, name)
		}
	}
	for name, s := range b.restored {
		if s != nil {
			all[name] = *s
		}
	}
}

// standIn is a tool under the schema that was saved with it, nil for its own; a tool
// that is nil is one that is not there any more.
func standIn(t tool.Tool, saved *ir.ToolSchema) tool.Tool {
	switch {
	case saved == nil:
		return t
	case t == nil:
		return absent{*saved}
	default:
		return resaved{t, *saved}
	}
}

// resaved is a registered tool under a saved schema. What a call does is the tool's
// affair; what may be asked of it is the schema's.
type resaved struct {
	tool.Tool
	saved ir.ToolSchema
}

// Spec is the tool's own with the saved words and schemas.
func (r resaved) Spec() tool.Spec {
	s := r.Tool.Spec()
	s.Description, s.Parameters, s.Returns = r.saved.Description, r.saved.Parameters, r.saved.Returns
	return s
}

// Preview shows what the tool shows, if it can.
func (r resaved) Preview(ctx context.Context, c tool.Call, files tool.Files) ([]ir.Block, error) {
	if p, ok := r.Tool.(tool.Previewer); ok {
		return p.Preview(ctx, c, files)
	}
	return nil, nil
}

// absent is a tool of which only the schema is left.
type absent struct{ saved ir.ToolSchema }

// Spec is the saved schema; its effect is the worst.
func (a absent) Spec() tool.Spec {
	return tool.Spec{Name: a.saved.Name, Description: a.saved.Description, Parameters: a.saved.Parameters, Returns: a.saved.Returns, Source: a.saved.Source}
}

// Effects declares nothing, so that it is judged as if it could do everything.
func (absent) Effects(tool.Call) (tool.Effects, error) { return tool.Effects{}, nil }

// Run has nobody to hand the call to.
func (absent) Run(_ context.Context, c tool.Call, _ tool.Env) (tool.Execution, error) {
	return tool.Execution{}, fmt.Errorf("no handler for tool '%s'", c.Tool)
}
