package wire

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"car/internal/assistant/llm"
)

// A-LLM-4, A-LLM-7, A-AUTH-1, P-STREAM-4: what servers say and what it means.
func TestFailedKinds(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		status  int
		body    string
		kind    llm.ErrorKind
		again   bool
		message string
	}{
		{"anthropic 401", 401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, llm.KindAuth, false, "invalid x-api-key"},
		{"anthropic 402", 402, `{"type":"error","error":{"type":"billing_error","message":"pay"}}`, llm.KindPayment, false, "pay"},
		{"anthropic no credit", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}`, llm.KindPayment, false, ""},
		{"anthropic 403", 403, `{"type":"error","error":{"type":"permission_error","message":"no"}}`, llm.KindForbidden, false, "no"},
		{"anthropic 404", 404, `{"type":"error","error":{"type":"not_found_error","message":"model: x"}}`, llm.KindModelNotFound, false, "model: x"},
		{"anthropic 413", 413, `{"type":"error","error":{"type":"request_too_large","message":"big"}}`, llm.KindContext, false, "big"},
		{"anthropic too long", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 250000 tokens > 200000 maximum"}}`, llm.KindContext, false, ""},
		{"anthropic invalid", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: required"}}`, llm.KindInvalid, false, "max_tokens: required"},
		{"anthropic 429", 429, `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`, llm.KindRateLimited, true, "slow down"},
		{"anthropic spend limit by code", 429, `{"type":"error","error":{"type":"rate_limit_error","message":"x","details":{"error_code":"enforced_spend_limit_reached"}}}`, llm.KindRateLimited, false, "x"},
		{"anthropic spend limit by words", 429, `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your account's monthly spend limit."}}`, llm.KindRateLimited, false, ""},
		{"anthropic usage limit", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits."}}`, llm.KindRateLimited, false, ""},
		{"anthropic 529", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, llm.KindOverloaded, true, "Overloaded"},
		{"anthropic 500", 500, `{"type":"error","error":{"type":"api_error","message":"Internal"}}`, llm.KindServer, true, "Internal"},
		{"anthropic 504", 504, `{"type":"error","error":{"type":"timeout_error","message":"late"}}`, llm.KindTimeout, true, "late"},
		{"anthropic in a stream", 200, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, llm.KindOverloaded, true, "Overloaded"},
		{"openai 401", 401, `{"error":{"message":"no such key","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, llm.KindAuth, false, "no such key"},
		{"openai quota", 429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, llm.KindRateLimited, false, ""},
		{"openai rate", 429, `{"error":{"message":"Rate limit reached: too many tokens per min","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`, llm.KindRateLimited, true, ""},
		{"openai context", 400, `{"error":{"message":"x","type":"invalid_request_error","code":"context_length_exceeded"}}`, llm.KindContext, false, "x"},
		{"openai policy", 400, `{"error":{"message":"x","type":"invalid_request_error","code":"content_policy_violation"}}`, llm.KindRefused, false, "x"},
		{"openai model", 404, `{"error":{"message":"no gpt-9","type":"invalid_request_error","code":"model_not_found"}}`, llm.KindModelNotFound, false, "no gpt-9"},
		{"openai in a stream", 200, `{"error":{"message":"x","type":"server_error","code":null}}`, llm.KindServer, true, "x"},
		{"azure filter", 400, `{"error":{"message":"x","code":"content_filter","status":400}}`, llm.KindRefused, false, "x"},
		{"llama.cpp context", 400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_ctx":4096}}`, llm.KindContext, false, ""},
		{"llama.cpp loading", 503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, llm.KindOverloaded, true, "Loading model"},
		{"an error that is a text", 500, `{"error":"boom"}`, llm.KindServer, true, "boom"},
		{"ollama model", 404, `{"error":"model 'x' not found"}`, llm.KindModelNotFound, false, "model 'x' not found"},
		{"vllm flat", 400, `{"object":"error","message":"bad tool","type":"BadRequestError","param":null,"code":400}`, llm.KindInvalid, false, "bad tool"},
		{"fastapi text", 422, `{"detail":"no"}`, llm.KindInvalid, false, "no"},
		{"fastapi list", 422, `{"detail":[{"loc":["body"],"msg":"field required"}]}`, llm.KindInvalid, false, "field required"},
		{"a list around it", 429, `[{"error":{"code":429,"message":"RESOURCE_EXHAUSTED","status":"x"}}]`, llm.KindRateLimited, true, "RESOURCE_EXHAUSTED"},
		{"numeric code on 200", 200, `{"error":{"code":502,"message":"upstream"}}`, llm.KindServer, true, "upstream"},
		{"numeric code as text on 200", 200, `{"error":{"code":"429","message":"slow"}}`, llm.KindRateLimited, true, "slow"},
		{"a message of the wrong type", 400, `{"error":{"message":{"a":1},"type":"invalid_request_error"}}`, llm.KindInvalid, false, "bad request"},
		{"a web page", 502, "<html><h1>Bad gateway</h1>", llm.KindServer, true, "bad gateway: the server answered with a web page"},
		{"a wrong address", 404, "404 page not found", llm.KindInvalid, false, "not found"},
		{"nothing", 500, "", llm.KindServer, true, "internal server error"},
		{"conflict", 409, "", llm.KindServer, true, "conflict"},
		{"request timeout", 408, "", llm.KindTimeout, true, "request timeout"},
		{"an unknown 4xx", 418, "", llm.KindInvalid, false, "i'm a teapot"},
		{"an unknown 5xx", 599, "", llm.KindServer, true, "no explanation"},
	} {
		e := Failed(FailedAnswer{Provider: "p", Status: tc.status, Body: []byte(tc.body)})
		if e.Kind != tc.kind || e.Retryable() != tc.again {
			t.Errorf("%s: %s retryable %v, want %s %v", tc.name, e.Kind, e.Retryable(), tc.kind, tc.again)
		}
		if tc.message != "" && e.Message != tc.message {
			t.Errorf("%s: message %q, want %q", tc.name, e.Message, tc.message)
		}
		if reason := map[llm.ErrorKind]llm.AuthReason{llm.KindAuth: llm.AuthInvalidKey, llm.KindPayment: llm.AuthPaymentRequired,
			llm.KindForbidden: llm.AuthForbidden}[e.Kind]; e.Reason != reason {
			t.Errorf("%s: reason %s, want %s", tc.name, e.Reason, reason)
		}
	}
}

// A-LLM-9, B061: every form of Retry-After, and no nonsense.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	date := "Mon, 02 Jan 2006 15:04:05 GMT"
	at := func(s string) func() time.Time {
		return func() time.Time { now, _ := http.ParseTime(s); return now }
	}
	for _, tc := range []struct {
		name   string
		header map[string]string
		now    func() time.Time
		body   string
		want   time.Duration
	}{
		{"none", nil, nil, "", 0},
		{"seconds", map[string]string{"Retry-After": "2"}, nil, "", 2 * time.Second},
		{"fractions", map[string]string{"Retry-After": "1.5"}, nil, "", 1500 * time.Millisecond},
		{"milliseconds win", map[string]string{"Retry-After": "9", "Retry-After-Ms": "250"}, nil, "", 250 * time.Millisecond},
		{"a date against our clock", map[string]string{"Retry-After": "Mon, 02 Jan 2006 15:04:35 GMT"}, at(date), "", 30 * time.Second},
		{"a date against the answer's", map[string]string{"Retry-After": "Mon, 02 Jan 2006 15:04:35 GMT", "Date": date}, at("Mon, 02 Jan 2006 12:00:00 GMT"), "", 30 * time.Second},
		{"a date in the past", map[string]string{"Retry-After": date}, at("Mon, 02 Jan 2006 15:09:05 GMT"), "", 0},
		{"a date without any clock", map[string]string{"Retry-After": date}, nil, "", 0},
		{"negative", map[string]string{"Retry-After": "-5"}, nil, "", 0},
		{"no number", map[string]string{"Retry-After": "soon"}, nil, "", 0},
		{"NaN", map[string]string{"Retry-After": "NaN"}, nil, "", 0},
		{"too large", map[string]string{"Retry-After": "1e300"}, nil, "", 365 * 24 * time.Hour},
		{"in the body", nil, nil, `{"error":{"type":"usage_limit_reached","message":"x","resets_in_seconds":43200}}`, 12 * time.Hour},
	} {
		h := http.Header{}
		for k, v := range tc.header {
			h.Set(k, v)
		}
		e := Failed(FailedAnswer{Status: 429, Header: h, Now: tc.now, Body: []byte(tc.body)})
		if e.RetryAfter != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, e.RetryAfter, tc.want)
		}
	}
}

// A-LLM-9: what the server says about trying again is obeyed.
func TestShouldRetry(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		status int
		header string
		body   string
		want   bool
	}{
		{400, "true", "", true}, {500, "false", "", false}, {500, "maybe", "", true}, {429, "true", `{"error":{"code":"insufficient_quota"}}`, false},
	} {
		e := Failed(FailedAnswer{Status: tc.status, Header: http.Header{"X-Should-Retry": {tc.header}}, Body: []byte(tc.body)})
		if e.Retryable() != tc.want {
			t.Errorf("%d %q %s: retryable is %v", tc.status, tc.header, tc.body, e.Retryable())
		}
	}
}

// A-LLM-4, P-GUARD-8: no part of a key is in an error, however the server shows it.
func TestFailedHidesKeys(t *testing.T) {
	t.Parallel()
	const key = "sk-test-abcdefghijklmnop-wxyz"
	for _, message := range []string{
		"Incorrect key provided: " + key + ".", "Incorrect key: sk-test-****wxyz", "key `sk-test-abcd...` is wrong",
		"the key ending in wxyz is disabled", "your key s*****z is wrong", "bad\x1b[31m\r\n key\u202e",
	} {
		body := `{"error":{"message":` + quoted(message) + `,"code":"invalid_api_key"}}`
		e := Failed(FailedAnswer{Status: 401, Body: []byte(body), Secrets: []string{key}})
		for _, part := range []string{"abcd", "wxyz", "sk-test", "\x1b", "\n", "\u202e", "s*****z"} {
			if strings.Contains(e.Error(), part) {
				t.Errorf("%q shows %q in %q", message, part, e.Error())
			}
		}
	}
	long := Failed(FailedAnswer{Status: 400, Body: []byte(`{"error":"` + strings.Repeat("é ", 5000) + `"}`)})
	if len(long.Message) > maxMessage+3 {
		t.Errorf("message of %d bytes", len(long.Message))
	}
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}
