package wire

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"car/internal/assistant/llm"
)

// FailedAnswer is what a server said instead of a reply.
type FailedAnswer struct {
	Provider string
	Status   int
	Header   http.Header
	Body     []byte
	// Now reads Retry-After dates; nil uses the answer's own Date.
	Now func() time.Time
	// Secrets are kept out of the error.
	Secrets []string
}

// Failed classifies a failed answer (A-LLM-4): by the code and type that typed
// fields name, else by the status; by words of the message only where a server
// names nothing (a full window, a spent quota, a model being loaded).
func Failed(f FailedAnswer) *llm.Error {
	told := parseFailure(f.Body)
	status := f.Status
	if told.status != 0 {
		status = told.status
	}
	e := &llm.Error{Provider: f.Provider, Status: status, RequestID: requestID(f.Header), Kind: told.kind(status)}
	if e.RequestID == "" {
		e.RequestID = clean(told.requestID)
	}
	e.Message = clean(scrub(told.message, f.Secrets))
	if e.Message == "" {
		e.Message = unexplained(status, f.Body)
	}
	e.RetryAfter = retryAfter(f.Header, f.Now)
	if e.RetryAfter == 0 {
		e.RetryAfter = told.resetsIn
	}
	e.Advice = advice(f.Header, told, e)
	switch e.Kind {
	case llm.KindAuth:
		e.Reason = llm.AuthInvalidKey
	case llm.KindForbidden:
		e.Reason = llm.AuthForbidden
	case llm.KindPayment:
		e.Reason = llm.AuthPaymentRequired
	case llm.KindModelNotFound:
		if !told.found {
			e.Kind = llm.KindInvalid
			e.Hint = "no such address on this server: check base_url"
		}
	}
	return e
}

func unexplained(status int, body []byte) string {
	what := strings.ToLower(http.StatusText(status))
	if what == "" {
		what = "no explanation"
	}
	if head := strings.TrimSpace(string(body)); strings.HasPrefix(head, "<") {
		return what + ": the server answered with a web page"
	}
	return what
}

func advice(h http.Header, told failure, e *llm.Error) llm.RetryAdvice {
	switch {
	case told.spent():
		return llm.AdviceNever
	case e.Kind == llm.KindOverloaded && told.says(loadingWords):
		return llm.AdviceWait
	}
	switch h.Get("X-Should-Retry") {
	case "true":
		return llm.AdviceRetry
	case "false":
		return llm.AdviceNever
	}
	return llm.AdviceNone
}

// retryAfter reads Retry-After-Ms, then Retry-After in seconds or as a date.
func retryAfter(h http.Header, now func() time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(strings.TrimSpace(h.Get("Retry-After-Ms")), 64); err == nil {
		return positive(ms, time.Millisecond)
	}
	text := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		return positive(s, time.Second)
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	// The answer's own clock wins: it is the one the date was made with.
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		return max(0, at.Sub(date))
	}
	if now == nil {
		return 0
	}
	return max(0, at.Sub(now()))
}

// positive is a duration that is neither negative nor beyond a year, nor no number at all.
func positive(n float64, unit time.Duration) time.Duration {
	const year = 365 * 24 * time.Hour
	if !(n > 0) {
		return 0
	}
	if n > float64(year/unit) {
		return year
	}
	return time.Duration(n * float64(unit))
}

func requestID(h http.Header) string {
	for _, name := range []string{"Request-Id", "X-Request-Id", "X-Amzn-Requestid", "Cf-Ray"} {
		if id := h.Get(name); id != "" {
			return clean(id)
		}
	}
	return ""
}
