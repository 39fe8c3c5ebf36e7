package line

import (
	"fmt"
	"strings"

	"car/internal/assistant"
	"car/internal/engine/ir"
	"car/internal/tui/approval"
	"car/internal/tui/safe"
	"car/internal/tui/theme"
)

// Keys is the line that asks for the answer.
const Keys = "y once, s this session, n no (words say why), x no and stop; enter is no: "

// Question is everything about a question, a line each, nothing left out: commands
// as they would run, a diff in colour where the theme has any.
func Question(p assistant.ApprovalPending, width int, th theme.Theme) []string {
	head := fmt.Sprintf("%s allow %s? It needs %s and is %s.", th.Glyphs.Wait, safe.Line(p.Tool), p.Tier.Needed(), p.Reversibility)
	if p.Tier.Needed() == ir.FullAccess || p.Reversibility == ir.Irreversible {
		head = th.Warn.Render(head)
	}
	return append([]string{head}, approval.Body(p, width, th)...)
}

// Answer reads what was typed to a question. Only a clear yes allows anything.
func Answer(typed string) assistant.Answer {
	word, reason, _ := strings.Cut(strings.TrimSpace(typed), " ")
	a := assistant.Answer{By: "user", Reason: strings.TrimSpace(reason)}
	switch strings.ToLower(word) {
	case "y", "yes":
		a.Kind, a.Reason = assistant.AnswerOnce, ""
	case "s":
		a.Kind, a.Reason = assistant.AnswerSession, ""
	case "x":
		a.Kind = assistant.AnswerDenyAndStop
	case "n", "no", "":
	default:
		a.Reason = strings.TrimSpace(typed)
	}
	return a
}
