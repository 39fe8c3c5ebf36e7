package assistant

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"car/internal/engine/ir"
	"car/internal/engine/redact"
)

// lens makes the copies that events, receipts and logs may hold: bounded, valid
// text, secrets masked (D-23, A-EVT-5, A-EVT-6). It is immutable.
type lens struct{ r *redact.Redactor }

// text masks the secrets of a text.
func (l lens) text(s string) string {
	masked, _ := l.r.String(strings.ToValidUTF8(s, "\uFFFD"))
	return masked
}

// value masks the secrets of a JSON value: in every text, and whole members whose
// name says that they hold one.
func (l lens) value(v any) any {
	switch v := v.(type) {
	case string:
		return l.text(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = l.value(item)
		}
		return out
	case map[string]any:
		return l.object(v)
	default:
		return v
	}
}

func (l lens) object(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for name, v := range m {
		if s, ok := v.(string); ok && s != "" && redact.SecretName(name) {
			out[name] = redact.Mask
			continue
		}
		out[name] = l.value(v)
	}
	return out
}

// body masks the secrets in the free text of an event. Pieces of a reply, calls and
// results are masked where they are made; what an approval shows is exact (D-23),
// and the texts of a sign-in are constants.
func (l lens) body(b Body) Body {
	switch b := b.(type) {
	case Done:
		b.Text = l.text(b.Text)
		return b
	case Failure:
		b.Error, b.Text = l.text(b.Error), l.text(b.Text)
		return b
	case Notice:
		b.Text = l.text(b.Text)
		return b
	case InferenceRetry:
		b.Reason = l.text(b.Reason)
		return b
	case GoalEvaluated:
		b.Reason = l.text(b.Reason)
		return b
	case ApprovalResolved:
		b.Reason = l.text(b.Reason)
		return b
	default:
		return b
	}
}

// params is what a tool_call shows of its parameters: at most 4 KiB as JSON.
func (l lens) params(m map[string]any) map[string]any {
	shown := l.object(m)
	for limit := shownParams / 2; limit > 16; limit /= 2 {
		if jsonSize(shown) <= shownParams {
			return shown
		}
		shown = clipValue(shown, limit).(map[string]any)
	}
	if jsonSize(shown) <= shownParams {
		return shown
	}
	return map[string]any{"omitted_bytes": float64(jsonSize(m))}
}

// clipValue cuts every text of a value to limit bytes and every list to as many items.
func clipValue(v any, limit int) any {
	switch v := v.(type) {
	case string:
		return clip(v, limit)
	case []any:
		out := make([]any, 0, min(len(v), limit))
		for _, item := range v[:min(len(v), limit)] {
			out = append(out, clipValue(item, limit))
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			out[name] = clipValue(item, limit)
		}
		return out
	default:
		return v
	}
}

// pending is what an approval shows of the parameters: exactly what will run, or
// for more than 64 KiB their digest and path (A-EVT-6).
func pending(m map[string]any) map[string]any {
	size := jsonSize(m)
	if size <= pendingParams {
		return maps.Clone(m)
	}
	short := map[string]any{"params_bytes": float64(size)}
	if digest, err := ir.DigestOf(m); err == nil {
		short["params_digest"] = string(digest)
	}
	if path, ok := m["path"].(string); ok {
		short["path"] = path
	}
	return short
}

// excerpt is the result's JSON in at most 2,000 characters: its first third and its end.
func (l lens) excerpt(r ir.ActionResult) string {
	var v any = map[string]any{"error": r.Error}
	switch {
	case r.Status == ir.Succeeded:
		v = r.Output
	case r.Output != nil:
		v = map[string]any{"error": r.Error, "output": r.Output}
	}
	text := []rune(printable(jsonText(l.value(v))))
	const mark = "…[truncated]…"
	if len(text) <= excerptRunes {
		return string(text)
	}
	room := excerptRunes - utf8.RuneCountInString(mark)
	return string(text[:room/3]) + mark + string(text[len(text)-(room-room/3):])
}

// evidenceNames are the outcome fields of tools that a receipt may repeat.
var evidenceNames = []string{"exit_code", "timed_out", "status", "ok", "final_url", "path", "bytes", "matches", "total", "signal",
	"truncated", "job_id", "project_gate"}

// evidence is the few scalars of a result that say what happened.
func (l lens) evidence(r ir.ActionResult) map[string]any {
	e := map[string]any{}
	out, _ := r.Output.(map[string]any)
	for _, name := range evidenceNames {
		if v, ok := out[name]; ok {
			l.addScalar(e, name, v)
		}
	}
	if r.ProjectGate != nil {
		l.addScalar(e, "project_gate", r.ProjectGate)
	}
	if r.AllowedBy != "" {
		l.addScalar(e, "allowed_by", r.AllowedBy)
	}
	if r.ErrorClass != ir.ClassNone {
		e["error_class"] = r.ErrorClass.String()
	}
	for _, name := range slices.Sorted(maps.Keys(e))[min(len(e), evidenceFields):] {
		delete(e, name)
	}
	return e
}

func (l lens) addScalar(e map[string]any, name string, v any) {
	switch v := v.(type) {
	case bool, float64:
		e[name] = v
	case string:
		e[name] = clipRunes(printable(l.text(maskURL(v))), evidenceRunes)
	}
}

// maskURL hides the values of a URL's query that are secrets by their name.
func maskURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || u.Host == "" {
		return s
	}
	q := u.Query()
	for name := range q {
		if secretQuery(name) {
			q.Set(name, redact.Mask)
		}
	}
	u.RawQuery = q.Encode()
	if u.User != nil {
		u.User = url.User(redact.Mask)
	}
	return u.String()
}

func secretQuery(name string) bool {
	lower := strings.ToLower(name)
	for _, part := range []string{"token", "key", "secret", "sig", "password", "code"} {
		if strings.Contains(lower, part) {
			return true
		}
	}
	return redact.SecretName(name)
}

// briefNames are the parameters that say what a call is about, the best first. They
// are names that tools share, not tools.
var briefNames = []string{"command", "path", "url", "query", "goal", "expression", "subject", "name", "job_id", "content"}

// Essential is what a call is about, as it stands in its parameters: a command, a file,
// or what is looked for and where. It is empty where no parameter says so.
func Essential(params map[string]any) string {
	said := func(name string) string { s, _ := params[name].(string); return strings.TrimSpace(s) }
	if pattern, path := said("pattern"), said("path"); pattern != "" {
		if path == "" {
			return pattern
		}
		return pattern + " in " + path
	}
	for _, name := range briefNames {
		if s := said(name); s != "" {
			return s
		}
	}
	return ""
}

// brief is the essential argument of a call in one line of at most 160 bytes.
func (l lens) brief(params map[string]any) string {
	return clip(printable(strings.Join(strings.Fields(l.text(Essential(params))), " ")), briefBytes)
}

// printable replaces what could move a cursor: controls, but for newline and tab.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// clip cuts a text to max bytes at a character, with an ellipsis within the bound.
func clip(s string, max int) string {
	const mark = "…"
	if len(s) <= max {
		return s
	}
	cut := max - len(mark)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + mark
}

func clipRunes(s string, max int) string {
	r := []rune(s)
	if len(r) <= max {
		return s
	}
	return string(r[:max-1]) + "…"
}

// tailOf keeps the end of a text, at a character.
func tailOf(s string, max int) string {
	if len(s) <= max {
		return s
	}
	cut := len(s) - max
	for cut < len(s) && !utf8.RuneStart(s[cut]) {
		cut++
	}
	return s[cut:]
}

// jsonText writes a value without escaping for HTML; a value that is no JSON is its error.
func jsonText(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func jsonSize(v any) int { return len(jsonText(v)) }
