package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"car/internal/assistant/llm"
)

// Client talks to one host. It is safe for concurrent use. Make it with New.
type Client struct {
	provider  string
	base      *url.URL
	local     bool
	headers   http.Header
	http      *http.Client
	firstByte time.Duration
	idle      time.Duration
	drain     time.Duration
	now       func() time.Time
	proxy     func(*http.Request) (*url.URL, error)
}

// Host is the host of the base URL, without its port.
func (c *Client) Host() string { return c.base.Hostname() }

// Local reports whether the host is this machine or a private network.
func (c *Client) Local() bool { return c.local }

// Close drops the idle connections. Requests under way are their callers' to end.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Call is one request.
type Call struct {
	// Path is appended to the path of the base URL, such as "v1/messages".
	Path string
	// Header is set after Config.Headers; values count as secrets where Secret says so.
	Header map[string]string
	// AuthHeader and Auth are the header that carries the key; empty sends none.
	AuthHeader string
	Auth       Secret
	// Body is JSON to POST; nil is a GET.
	Body []byte
}

// Do sends a request and returns an answer of status 2xx. Whatever else happens is
// an *llm.Error. The caller closes the answer.
func (c *Client) Do(ctx context.Context, call Call) (*Answer, error) {
	inner, cancel := context.WithCancel(ctx)
	a := &Answer{client: c, secrets: c.secrets(call), parent: ctx.Err, cancel: cancel}
	req, err := c.request(inner, call)
	if err != nil {
		cancel()
		return nil, &llm.Error{Kind: llm.KindInvalid, Provider: c.provider, Message: "the request cannot be built; check base_url"}
	}
	a.request = req
	a.watch = watch(c.firstByte, c.idle, cancel)
	res, err := c.http.Do(req)
	if err != nil {
		failure := a.unanswered(err)
		a.Close()
		return nil, failure
	}
	a.response = res
	if res.StatusCode/100 == 2 {
		a.open()
		return a, nil
	}
	defer a.Close()
	return nil, a.refused()
}

func (c *Client) request(ctx context.Context, call Call) (*http.Request, error) {
	method := http.MethodGet
	var body io.Reader
	if call.Body != nil {
		method = http.MethodPost
		body = bytes.NewReader(call.Body)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base.JoinPath(call.Path).String(), body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "car")
	req.Header.Set("Accept", "text/event-stream, application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range call.Header {
		req.Header.Set(name, value)
	}
	if call.AuthHeader != "" && call.Auth != "" {
		req.Header.Set(call.AuthHeader, string(call.Auth))
	}
	for name, values := range c.headers {
		req.Header[name] = values
	}
	return req, nil
}

// secrets lists what may never be in an error of this request.
func (c *Client) secrets(call Call) []string {
	var list []string
	if key := string(call.Auth); key != "" {
		list = append(list, key)
		if _, token, ok := bytes.Cut([]byte(key), []byte(" ")); ok {
			list = append(list, string(token))
		}
	}
	for _, values := range c.headers {
		list = append(list, values...)
	}
	return list
}

// refused turns an answer that is no success into its error.
func (a *Answer) refused() *llm.Error {
	body, err := io.ReadAll(io.LimitReader(&watchedBody{a}, maxErrorBody))
	if err != nil && len(body) == 0 && (a.parent() != nil || a.watch.fired.Load()) {
		return a.broken(err)
	}
	status := a.response.StatusCode
	switch {
	case status == http.StatusProxyAuthRequired:
		if proxy := a.client.proxyOf(a.request); proxy != "" {
			return proxyRefused(a.client.provider, proxy, status)
		}
	case status/100 == 3:
		return a.redirected()
	}
	return Failed(FailedAnswer{Provider: a.client.provider, Status: status, Header: a.response.Header, Body: body,
		Now: a.client.now, Secrets: a.secrets})
}

// redirected says where the server pointed, without following.
func (a *Answer) redirected() *llm.Error {
	target := "elsewhere"
	if u, err := a.response.Location(); err == nil {
		target = u.Scheme + "://" + u.Host
	}
	return &llm.Error{Kind: llm.KindInvalid, Provider: a.client.provider, Status: a.response.StatusCode,
		Message: "the server redirects to " + clean(target), Hint: "set base_url to where it should go; a key is never sent along a redirect"}
}

// proxyAnswered sees the answer of a proxy that was asked for a tunnel.
func (c *Client) proxyAnswered(_ context.Context, proxy *url.URL, _ *http.Request, res *http.Response) error {
	if res.StatusCode == http.StatusOK {
		return nil
	}
	return proxyRefused(c.provider, proxy.Host, res.StatusCode)
}

// proxyOf names the proxy of a request, without its user and password.
func (c *Client) proxyOf(req *http.Request) string {
	if c.proxy == nil {
		return ""
	}
	proxy, err := c.proxy(req)
	if err != nil || proxy == nil {
		return ""
	}
	return proxy.Host
}

// proxyRefused names the proxy, never its password (B089).
func proxyRefused(provider, proxy string, status int) *llm.Error {
	e := &llm.Error{Kind: llm.KindNetwork, Provider: provider, Status: status,
		Message: "proxy " + proxy + " answered " + http.StatusText(status)}
	if status == http.StatusProxyAuthRequired {
		e.Advice = llm.AdviceNever
		e.Hint = "put its user and password into the proxy setting, or the host into NO_PROXY"
	}
	return e
}

func asError(err error) (*llm.Error, bool) {
	var e *llm.Error
	ok := errors.As(err, &e)
	return e, ok
}

func canceled(provider string, cause error) *llm.Error {
	return &llm.Error{Kind: llm.KindCanceled, Provider: provider, Message: "canceled", Err: cause}
}
