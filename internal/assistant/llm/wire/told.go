package wire

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"car/internal/assistant/llm"
)

// failure is what the body of a failed answer says, whatever shape it has.
type failure struct {
	kinds     []string // code and type, the more telling first
	message   string
	status    int // a numeric code that is an HTTP status
	requestID string
	resetsIn  time.Duration
	details   string
	found     bool // the body was an error that a model API writes
}

// errorBody is the union of the shapes seen: {"error":{…}}, {"error":"text"},
// {"message":"text"}, {"detail":"text"}, and the fields themselves.
type errorBody struct {
	Error     json.RawMessage `json:"error"`
	Message   string          `json:"message"`
	Detail    json.RawMessage `json:"detail"`
	RequestID string          `json:"request_id"`
	errorFields
}

type errorFields struct {
	Type            json.RawMessage `json:"type"`
	Code            json.RawMessage `json:"code"`
	Details         json.RawMessage `json:"details"`
	ResetsInSeconds float64         `json:"resets_in_seconds"`
}

func parseFailure(body []byte) failure {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var b errorBody
	if !lenient(body, &b) {
		return failure{}
	}
	f := failure{message: b.Message, requestID: b.RequestID}
	var text string
	switch {
	case json.Unmarshal(b.Error, &text) == nil && text != "":
		f.message, f.found = text, true
		f.read(b.errorFields)
	case len(b.Error) > 0 && b.Error[0] == '{':
		var inner struct {
			Message string `json:"message"`
			errorFields
		}
		f.found = lenient(b.Error, &inner)
		if inner.Message != "" {
			f.message = inner.Message
		}
		f.read(inner.errorFields)
	default:
		f.found = b.Message != ""
		f.read(b.errorFields)
	}
	if f.message == "" && len(b.Detail) > 0 {
		f.message, f.found = detail(b.Detail), true
	}
	return f
}

// lenient reads what it can of an object: a field of an unexpected type is left
// out, not a reason to know nothing.
func lenient(body []byte, into any) bool {
	err := json.Unmarshal(body, into)
	if err == nil {
		return len(body) > 0 && strings.HasPrefix(strings.TrimSpace(string(body)), "{")
	}
	_, mistyped := err.(*json.UnmarshalTypeError)
	return mistyped
}

func (f *failure) read(e errorFields) {
	for _, raw := range []json.RawMessage{e.Code, e.Type} {
		var word string
		if json.Unmarshal(raw, &word) == nil && word != "" {
			f.kinds = append(f.kinds, strings.ToLower(word))
		}
		var n float64
		if json.Unmarshal(raw, &n) == nil && n >= 400 && n < 600 {
			f.status = int(n)
		}
	}
	if n, err := strconv.Atoi(first(f.kinds)); err == nil && n >= 400 && n < 600 {
		f.status = n
	}
	f.details = strings.ToLower(string(e.Details))
	f.resetsIn = positive(math.Ceil(e.ResetsInSeconds), time.Second)
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// detail reads FastAPI's {"detail": "text"} or {"detail": [{"msg": "text"}]}.
func detail(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var list []struct {
		Msg string `json:"msg"`
	}
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		return list[0].Msg
	}
	return ""
}

// kindOf knows the codes and types that mean one thing everywhere.
var kindOf = map[string]llm.ErrorKind{
	"authentication_error": llm.KindAuth, "invalid_api_key": llm.KindAuth, "invalid_authentication": llm.KindAuth, "unauthenticated": llm.KindAuth,
	"billing_error": llm.KindPayment, "insufficient_credits": llm.KindPayment,
	"permission_error": llm.KindForbidden, "permission_denied": llm.KindForbidden,
	"model_not_found": llm.KindModelNotFound, "not_found_error": llm.KindModelNotFound,
	"context_length_exceeded": llm.KindContext, "exceed_context_size_error": llm.KindContext, "request_too_large": llm.KindContext,
	"model_context_window_exceeded": llm.KindContext,
	"content_policy_violation":      llm.KindRefused, "content_filter": llm.KindRefused, "refusal": llm.KindRefused,
	"rate_limit_error": llm.KindRateLimited, "rate_limit_exceeded": llm.KindRateLimited, "too_many_requests": llm.KindRateLimited,
	"overloaded_error": llm.KindOverloaded, "engine_overloaded": llm.KindOverloaded, "server_overloaded": llm.KindOverloaded,
	"overloaded": llm.KindOverloaded, "unavailable_error": llm.KindOverloaded, "service_unavailable": llm.KindOverloaded,
	"timeout_error": llm.KindTimeout, "request_timeout": llm.KindTimeout,
	"api_error": llm.KindServer, "server_error": llm.KindServer, "internal_error": llm.KindServer, "internal_server_error": llm.KindServer,
	"invalid_request_error": llm.KindInvalid,
}

// statusKind is what a status means when nothing more is said.
var statusKind = map[int]llm.ErrorKind{
	http.StatusUnauthorized: llm.KindAuth, http.StatusPaymentRequired: llm.KindPayment, http.StatusForbidden: llm.KindForbidden,
	http.StatusNotFound: llm.KindModelNotFound, http.StatusRequestTimeout: llm.KindTimeout, http.StatusConflict: llm.KindServer,
	http.StatusRequestEntityTooLarge: llm.KindContext, http.StatusTooManyRequests: llm.KindRateLimited,
	http.StatusServiceUnavailable: llm.KindOverloaded, http.StatusGatewayTimeout: llm.KindTimeout, 529: llm.KindOverloaded,
}

// spentCodes are quotas that are used up; waiting seconds does not help (P-STREAM-4).
var spentCodes = []string{"insufficient_quota", "enforced_spend_limit_reached", "billing_hard_limit_reached", "usage_limit_reached", "quota_exceeded"}

// The words that servers use where they name no code.
var (
	contextWords = []string{"prompt is too long", "context length", "context window", "context size", "maximum context", "input is too long",
		"too many tokens", "reduce the length"}
	spentWords   = []string{"exceeded your current quota", "monthly spend limit", "specified api usage limits"}
	creditWords  = []string{"credit balance is too low"}
	loadingWords = []string{"loading model", "model is loading", "currently loading"}
)

// kind is the most telling of code, type, status and, last, words.
func (f failure) kind(status int) llm.ErrorKind {
	if f.spent() {
		return llm.KindRateLimited
	}
	named := llm.KindUnset
	for _, word := range f.kinds {
		if named = kindOf[word]; named != llm.KindUnset {
			break
		}
	}
	vague := named == llm.KindUnset || named == llm.KindInvalid || named == llm.KindServer
	if !vague {
		return named
	}
	byStatus, known := statusKind[status]
	if f.says(contextWords) && byStatus != llm.KindRateLimited && byStatus != llm.KindAuth {
		return llm.KindContext
	}
	if f.says(creditWords) {
		return llm.KindPayment
	}
	switch {
	case known:
		return byStatus
	case named != llm.KindUnset:
		return named
	case status >= 400 && status < 500:
		return llm.KindInvalid
	}
	return llm.KindServer
}

// spent reports a quota that is used up.
func (f failure) spent() bool {
	for _, code := range spentCodes {
		for _, word := range f.kinds {
			if word == code {
				return true
			}
		}
		if strings.Contains(f.details, `"`+code+`"`) {
			return true
		}
	}
	return f.says(spentWords)
}

func (f failure) says(words []string) bool {
	message := strings.ToLower(f.message)
	for _, w := range words {
		if strings.Contains(message, w) {
			return true
		}
	}
	return false
}
