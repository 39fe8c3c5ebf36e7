package assistant

import (
	"errors"

	"car/internal/assistant/llm"
)

// authText is what a person reads for a reason, and what to type next. Both are
// constant, so that hosts can pin them and no part of a key can be in them (A-AUTH-2).
type authText struct{ message, help string }

var authTexts = map[llm.AuthReason]authText{
	llm.AuthSignedOut:       {"You are signed out of the model provider. Sign in to go on.", "car doctor"},
	llm.AuthNoWorkspace:     {"Your account has no workspace at the model provider. Choose or create one to go on.", "car doctor"},
	llm.AuthNoProvider:      {"No model provider is configured. Set a provider key or start a local server to go on.", "car models"},
	llm.AuthInvalidKey:      {"The model provider does not accept the configured key. Replace it to go on.", "car doctor"},
	llm.AuthForbidden:       {"The configured key may not use this model. Choose another model or key to go on.", "car models"},
	llm.AuthPaymentRequired: {"The model provider asks for payment before it answers. Settle your account there to go on.", "car doctor"},
	llm.AuthUntrustedConfig: {"The provider is defined by a project that you have not trusted yet.", "car trust"},
}

// authEnd is the terminal of a run that a person has to sign in for, nil if err is
// something else.
func authEnd(err error) Body {
	var e *llm.Error
	if !errors.As(err, &e) || e.Reason == llm.AuthNone {
		return nil
	}
	text := authTexts[e.Reason]
	return AuthRequired{Reason: e.Reason.String(), Message: text.message, Provider: e.Provider, Help: text.help}
}
