package wire

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"car/internal/assistant/llm"
)

// Secret is a key that no formatting verb and no encoder prints.
type Secret string

const hidden = "[REDACTED]"

// String hides the key.
func (s Secret) String() string { return hidden }

// GoString hides the key.
func (s Secret) GoString() string { return hidden }

// Format hides the key from every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) }

// MarshalText hides the key.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Credential is what a provider is shown; at most one field is used. Key goes the
// provider's own way, Token always as "Authorization: Bearer" (D-40).
type Credential struct {
	Key   Secret
	Token Secret
}

// Source gives the credential for one request. It is asked each time, so that
// whoever owns a key command can replace what was refused (A-AUTH-3). Its error
// is shown without its text unless it is an *llm.Error.
type Source func(ctx context.Context) (Credential, error)

// Fixed is a Source of one credential.
func Fixed(c Credential) Source {
	return func(context.Context) (Credential, error) { return c, nil }
}

// Credential asks a Source; nil has none. The error is an *llm.Error.
func (c *Client) Credential(ctx context.Context, s Source) (Credential, error) {
	if s == nil {
		return Credential{}, nil
	}
	got, err := s(ctx)
	if err == nil {
		return got, nil
	}
	if ctx.Err() != nil {
		return Credential{}, canceled(c.provider, ctx.Err())
	}
	if e, ok := asError(err); ok {
		return Credential{}, e
	}
	return Credential{}, &llm.Error{Kind: llm.KindAuth, Provider: c.provider, Reason: llm.AuthSignedOut,
		Message: "the key could not be obtained", Err: err}
}

// scrub takes every secret and every visible part of one out of a text that the
// server wrote: servers quote keys back, whole or masked.
func scrub(text string, secrets []string) string {
	for _, s := range secrets {
		if len(s) >= 4 {
			text = strings.ReplaceAll(text, s, hidden)
		}
	}
	words := strings.Fields(text)
	for i, w := range words {
		if partOfSecret(strings.TrimFunc(w, notInKey), secrets) {
			words[i] = hidden
		}
	}
	return strings.Join(words, " ")
}

// partOfSecret recognises a masked key, its beginning or its end.
func partOfSecret(word string, secrets []string) bool {
	if strings.Contains(word, "**") {
		return true
	}
	for _, s := range secrets {
		if len(s) < 8 || len(word) < 4 {
			continue
		}
		if strings.HasSuffix(s, word) || len(word) >= 6 && strings.HasPrefix(word, s[:6]) {
			return true
		}
	}
	return false
}

func notInKey(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '*' && r != '-' && r != '_'
}

// clean makes one printable line of bounded length.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}
