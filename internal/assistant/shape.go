package assistant

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"car/internal/assistant/claim"
	"car/internal/assistant/llm"
	"car/internal/engine/verify/schema"
)

// Shape is a JSON schema that an answer has to follow (A-CLI-8). It is immutable.
type Shape struct {
	text  string
	rules *schema.Schema
}

// NewShape reads a schema; one that can not be held whole is refused, since an
// answer that it let through would prove nothing.
func NewShape(raw []byte) (*Shape, error) {
	rules, err := schema.Compile(raw)
	switch {
	case err != nil:
		return nil, err
	case rules.Degraded != "":
		return nil, errors.New(rules.Degraded)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return nil, fmt.Errorf("the schema is not JSON: %w", err)
	}
	return &Shape{text: compact.String(), rules: rules}, nil
}

// told puts what the answer has to be before a person's words; a nil Shape asks
// for nothing.
func (s *Shape) told(m llm.Message) llm.Message {
	if s == nil {
		return m
	}
	last := len(m.Parts) - 1
	parts := append([]llm.Part{}, m.Parts[:last]...)
	m.Parts = append(parts, llm.TextPart("Your closing answer has to be one JSON value and nothing else, without a fence, that follows this JSON schema:\n"+s.text), m.Parts[last])
	return m
}

// fit returns the JSON of an answer, out of a fence around the whole of it, and
// what is wrong with it.
func (s *Shape) fit(text string) (value string, wrong []string) {
	value = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(value, "```"); ok && strings.HasSuffix(inner, "```") {
		_, inner, _ = strings.Cut(strings.TrimSuffix(inner, "```"), "\n")
		value = strings.TrimSpace(inner)
	}
	dec := json.NewDecoder(strings.NewReader(value))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return text, []string{"it is no JSON: " + err.Error()}
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return text, []string{"something stands behind the JSON value"}
	}
	return value, s.rules.CheckOutput(v)
}

// checkShape holds the answer against the schema and asks once for one that fits.
// Claims are judged, and annotated nowhere: the answer is for a program.
func (r *run) checkShape(ctx context.Context, done Done) Body {
	value, wrong := r.c.opts.Shape.fit(done.Text)
	if len(wrong) > 0 {
		r.note("[answer check] The answer does not follow the JSON schema: " + strings.Join(wrong, "; ") + ". Give the whole answer again, as one JSON value and nothing else.")
		end := r.converse(ctx)
		again, ok := end.(Done)
		if !ok {
			return withText(end, "")
		}
		done = again
		if value, wrong = r.c.opts.Shape.fit(done.Text); len(wrong) > 0 {
			return Failure{Code: CodeSchemaMismatch, Text: done.Text, Error: "the answer does not follow the JSON schema: " + strings.Join(wrong, "; ")}
		}
	}
	done.Text = value
	if r.c.svc.cfg.Claims != ClaimOff {
		r.findings = claim.Judge(done.Text, r.c.script.receipts())
	}
	return done
}
