package assistant

import (
	"context"
	"strings"

	"car/internal/assistant/claim"
	"car/internal/assistant/llm"
)

// chat is a turn: the person's words, steps until the model stops calling tools,
// and a look at what it claims.
func (r *run) chat(ctx context.Context) Body {
	r.say(entryInput, r.c.opts.Shape.told(r.opening(r.input.Input, r.input.Text)), r.input.id)
	if end := r.keep(ctx); end != nil {
		return end
	}
	if end := r.models(ctx); end != nil {
		return end
	}
	if end := r.blind(); end != nil {
		return end
	}
	end := r.converse(ctx)
	if done, ok := end.(Done); ok && r.c.opts.Shape != nil {
		return r.checkShape(ctx, done)
	} else if ok {
		return r.checkClaims(ctx, done)
	}
	return end
}

// checkClaims asks the model once to verify or correct what no receipt supports,
// and then says what still has none, editing nothing (A-CLAIM-5).
func (r *run) checkClaims(ctx context.Context, done Done) Body {
	mode := r.c.svc.cfg.Claims
	if mode == ClaimOff {
		return done
	}
	r.findings = claim.Judge(done.Text, r.c.script.receipts())
	if len(r.findings) > 0 && mode == ClaimRedrive {
		r.note("[claim check] The runtime found no receipt for: " + list(r.findings) +
			". Verify it with a tool, or correct it. Then give the whole closing summary again, without claims that no tool run supports.")
		end := r.converse(ctx)
		again, ok := end.(Done)
		if !ok {
			r.findings = nil
			return withText(end, "")
		}
		done = again
		r.findings = claim.Judge(done.Text, r.c.script.receipts())
	}
	return r.annotated(done)
}

// annotated adds one neutral paragraph for claims without a receipt.
func (r *run) annotated(done Done) Done {
	if len(r.findings) > 0 {
		done.Text = strings.TrimRight(done.Text, "\n") + "\n\n[claim check] " + list(r.findings) + "."
	}
	return done
}

func list(findings []claim.Finding) string {
	lines := make([]string, len(findings))
	for i, f := range findings {
		lines[i] = f.String()
	}
	return strings.Join(lines, "; ")
}

// opening is the message that begins a turn or an iteration; the first of a
// session is told where it works (A-CTX-2).
func (r *run) opening(in Input, words string) llm.Message {
	m := llm.Message{Role: llm.User}
	if r.c.script.isFirst() {
		m.Parts = append(texts(r.c.opts.Environment.render(r.c.opts), guidanceText(r.c.opts.Guidance)), m.Parts...)
	}
	m.Parts = append(m.Parts, pictures(in.Images)...)
	m.Parts = append(m.Parts, texts(observations(in), words)...)
	return m
}

// pictures makes a part of each picture; they stand before the words, which are last.
func pictures(all []llm.Image) []llm.Part {
	var parts []llm.Part
	for _, p := range all {
		parts = append(parts, llm.Part{Kind: llm.PartImage, Image: &p})
	}
	return parts
}

// texts makes a part of each text that is not empty.
func texts(all ...string) []llm.Part {
	var parts []llm.Part
	for _, text := range all {
		if text != "" {
			parts = append(parts, llm.TextPart(text))
		}
	}
	return parts
}
