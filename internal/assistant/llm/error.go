package llm

import (
	"fmt"
	"time"
)

// ErrorKind says what went wrong with an inference (A-LLM-4). The zero value is
// unset; it is never retried.
type ErrorKind uint8

// The kinds.
const (
	KindUnset ErrorKind = iota
	KindAuth
	KindPayment
	KindForbidden
	KindModelNotFound
	KindInvalid
	KindContext
	KindRefused
	KindRateLimited
	KindOverloaded
	KindServer
	KindTimeout
	KindNetwork
	KindTLS
	KindDisconnected
	KindMalformed
	KindCanceled
)

var errorKindLabels = []string{KindAuth: "auth", KindPayment: "payment", KindForbidden: "forbidden",
	KindModelNotFound: "model_not_found", KindInvalid: "invalid", KindContext: "context", KindRefused: "refused",
	KindRateLimited: "rate_limited", KindOverloaded: "overloaded", KindServer: "server", KindTimeout: "timeout",
	KindNetwork: "network", KindTLS: "tls", KindDisconnected: "disconnected", KindMalformed: "malformed",
	KindCanceled: "canceled"}

// String returns the stored label.
func (k ErrorKind) String() string { return labelOf(errorKindLabels, k) }

// MarshalText writes the stored label.
func (k ErrorKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a stored label; an unknown one is an error.
func (k *ErrorKind) UnmarshalText(b []byte) (err error) {
	*k, err = parseLabel[ErrorKind]("error kind", errorKindLabels, string(b))
	return err
}

// AuthReason says why a person has to act before any inference can work (A-AUTH-1).
// The zero value is none.
type AuthReason uint8

// The reasons, in the order of their wire labels.
const (
	AuthNone AuthReason = iota
	AuthSignedOut
	AuthNoWorkspace
	AuthNoProvider
	AuthInvalidKey
	AuthForbidden
	AuthPaymentRequired
	AuthUntrustedConfig
)

var authReasonLabels = []string{AuthSignedOut: "signed_out", AuthNoWorkspace: "no_workspace", AuthNoProvider: "no_provider",
	AuthInvalidKey: "invalid_key", AuthForbidden: "forbidden", AuthPaymentRequired: "payment_required",
	AuthUntrustedConfig: "untrusted_config"}

// String returns the wire label.
func (r AuthReason) String() string { return labelOf(authReasonLabels, r) }

// MarshalText writes the wire label.
func (r AuthReason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a wire label; an unknown one is an error.
func (r *AuthReason) UnmarshalText(b []byte) (err error) {
	*r, err = parseLabel[AuthReason]("auth reason", authReasonLabels, string(b))
	return err
}

// RetryAdvice is what a server or an adapter knows about trying again beyond what
// the kind says (A-LLM-9).
type RetryAdvice uint8

// AdviceNever is a spent quota or "x-should-retry: false"; AdviceRetry is
// "x-should-retry: true"; AdviceWait is a server that is still loading its model;
// AdviceBrief is one that is not running, on this machine: at most being restarted.
const (
	AdviceNone RetryAdvice = iota
	AdviceNever
	AdviceRetry
	AdviceWait
	AdviceBrief
)

// Error is how an inference ends that does not succeed. It holds no key, no
// header and no body, only what typed fields of the answer said.
type Error struct {
	Kind     ErrorKind
	Provider string
	// Status is the HTTP status, 0 before one was received. An error inside a stream keeps 200.
	Status    int
	RequestID string
	// RetryAfter is how long the server asked to wait; 0 is untold.
	RetryAfter time.Duration
	// Message says what happened, in one clean line.
	Message string
	// Hint is what to do about it, such as the flag a local server needs; may be empty.
	Hint   string
	Advice RetryAdvice
	// Reason is set with the kinds auth, payment and forbidden (A-AUTH-2).
	Reason AuthReason
	// Err is the cause for errors.Is; it is not part of the text.
	Err error
}

// Error tells provider, message, status and hint.
func (e *Error) Error() string {
	text := e.Message
	if text == "" {
		text = e.Kind.String()
	}
	if e.Provider != "" {
		text = e.Provider + ": " + text
	}
	if e.Status != 0 && e.Status != statusOK {
		text += fmt.Sprintf(" (status %d)", e.Status)
	}
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same request may succeed later (A-LLM-9). Whether
// it is tried again is the RetryPolicy's to say.
func (e *Error) Retryable() bool {
	switch e.Advice {
	case AdviceNever:
		return false
	case AdviceRetry, AdviceWait, AdviceBrief:
		return e.Kind != KindCanceled
	}
	switch e.Kind {
	case KindRateLimited, KindOverloaded, KindServer, KindTimeout, KindNetwork, KindDisconnected:
		return true
	}
	return false
}

// statusOK is the status of an error that came inside a stream; it says nothing.
const statusOK = 200
