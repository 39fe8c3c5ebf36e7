package dispatch

import (
	"errors"

	"car/internal/engine/admit"
	"car/internal/engine/ir"
	"car/internal/engine/redact"
	"car/internal/engine/tool"
)

// fromOutside says that what a call brings was made by somebody else: a program, a
// host, or a tool that declares nothing. Files are not masked here, since edits
// need their true bytes, and Spawn has masked what a shell said (T-RED-4).
func fromOutside(g admit.Grant) bool {
	return g.Tool != nil && (!g.Effects.Declared || g.Effects.Program != nil || len(g.Effects.Hosts) > 0)
}

// maskOf is the session's redactor and the secrets among the variables that the
// call gives its program.
func (d *Dispatcher) maskOf(g admit.Grant) *mask {
	m := &mask{session: d.cfg.Redactor}
	if g.Effects.Program == nil {
		return m
	}
	var secrets []string
	for name, value := range g.Effects.Program.Env {
		if redact.SecretName(name) || redact.ShapedLikeSecret(name) {
			secrets = append(secrets, value)
		}
	}
	if len(secrets) > 0 {
		m.own = redact.New(secrets)
	}
	return m
}

// cross masks what a call brings from outside, its failure too (D-38, T-RED-5).
func (d *Dispatcher) cross(g admit.Grant, ran *tool.Execution, err error) error {
	m := d.maskOf(g)
	ran.Output = m.value(ran.Output)
	for i := range ran.Blocks {
		ran.Blocks[i].Text, ran.Blocks[i].Title = m.text(ran.Blocks[i].Text), m.text(ran.Blocks[i].Title)
	}
	for key, c := range ran.StateChanges {
		ran.StateChanges[key] = ir.StateChange{Op: c.Op, Value: m.value(c.Value)}
	}
	return m.failure(err)
}

// value masks every text in a value, and under a name that says secret all of it.
func (m *mask) value(v any) any {
	switch v := v.(type) {
	case string:
		return m.text(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = m.value(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			if s, ok := item.(string); ok && s != "" && redact.SecretName(name) {
				out[name] = redact.Mask
				continue
			}
			out[name] = m.value(item)
		}
		return out
	default:
		return v
	}
}

// failure masks the text of an error and keeps its kind.
func (m *mask) failure(err error) error {
	var f *tool.Fault
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		return &tool.Fault{Kind: f.Kind, Text: m.text(f.Text), Output: m.value(f.Output)}
	}
	if text := m.text(err.Error()); text != err.Error() {
		return maskedError{text, err}
	}
	return err
}

// maskedError is an error whose words were masked.
type maskedError struct {
	text string
	err  error
}

func (e maskedError) Error() string { return e.text }

func (e maskedError) Unwrap() error { return e.err }
