package webclient

import (
	"io"
	"mime"
	"net/http"
	"net/url"

	"car/internal/engine/tool"
)

// maxAnswer bounds one answer of a service that is no stream.
const maxAnswer = 8 << 20

// Service is an HTTP client for one service that a person configured, such as an MCP
// server: its requests go to the origin of base and to no other, they carry headers,
// and redirects are not followed. Every address is judged as Fetch's are.
func (c *Client) Service(base string, headers map[string]string) (*http.Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return nil, fault(tool.BadArgs, "the address of a service begins with http:// or https:// and has no user name")
	}
	return &http.Client{
		Transport:     &service{client: c, origin: origin(u), headers: headers},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// service carries the requests of one service.
type service struct {
	client  *Client
	origin  string
	headers map[string]string
}

// RoundTrip carries one request.
func (s *service) RoundTrip(req *http.Request) (*http.Response, error) {
	if origin(req.URL) != s.origin {
		return nil, fault(tool.Denied, "a service leads to another server, %s, which was not configured", req.URL.Host)
	}
	req = req.Clone(req.Context())
	req.Header.Set("User-Agent", s.client.cfg.UserAgent)
	for name, value := range s.headers {
		req.Header.Set(name, value)
	}
	proxy, err := s.client.cfg.Proxy(req)
	if err != nil {
		return nil, fault(tool.Failed, "the proxy setting is no address (HTTPS_PROXY, HTTP_PROXY); write it as http://host:port")
	}
	transport := s.client.direct
	if proxy != nil {
		if err := s.client.judgeBehindProxy(req.Context(), req.URL); err != nil {
			return nil, err
		}
		transport = s.client.proxied
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, s.client.unanswered(req.Context(), req.URL, proxy, err)
	}
	if proxy != nil && resp.StatusCode == http.StatusProxyAuthRequired {
		resp.Body.Close()
		return nil, loginWanted(proxy)
	}
	if media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); media != "text/event-stream" {
		resp.Body = &limited{ReadCloser: resp.Body, left: maxAnswer}
	}
	return resp, nil
}

// limited ends a body that is too long with an error.
type limited struct {
	io.ReadCloser
	left int
}

// Read reads.
func (l *limited) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if l.left -= n; l.left < 0 {
		return 0, fault(tool.TooLarge, "the service answered more than %d MiB", maxAnswer>>20)
	}
	return n, err
}
