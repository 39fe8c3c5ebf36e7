package webclient

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"car/internal/engine/tool"
)

// What one request may take (T-WEB-1).
const (
	maxRedirects   = 5
	dialLimit      = 10 * time.Second
	handshakeLimit = 10 * time.Second
	headerBytes    = 256 << 10
)

// Config makes a Client.
type Config struct {
	// Destination says why an address must not be dialled; name and port are what the
	// request asked for. It is asked for every address, also behind a proxy.
	Destination func(name, port string, addr netip.Addr) error
	// Redirect says why a redirect must not be followed.
	Redirect func(from, to string) error
	// Unresolved says why a name that does not resolve here must not be left to the
	// proxy to resolve; nil refuses all of them.
	Unresolved func(name, port string) error
	// Proxy says which proxy a request goes through; nil is none.
	Proxy func(*http.Request) (*url.URL, error)
	// CAFile is a PEM file of authorities to trust besides the system's.
	CAFile string
	// UserAgent is sent unless a request has its own.
	UserAgent string
	// Lookup resolves a name; nil is the system's resolver.
	Lookup func(ctx context.Context, name string) ([]netip.Addr, error)
}

// Client carries requests. Safe for concurrent use.
type Client struct {
	cfg     Config
	roots   *x509.CertPool
	dialer  *net.Dialer
	direct  *http.Transport
	proxied *http.Transport
}

var _ tool.Web = (*Client)(nil)

// New checks the configuration, or says which field is wrong.
func New(c Config) (*Client, error) {
	switch {
	case c.Destination == nil:
		return nil, errors.New("webclient: Config.Destination is nil")
	case c.Redirect == nil:
		return nil, errors.New("webclient: Config.Redirect is nil")
	}
	if c.Lookup == nil {
		c.Lookup = func(ctx context.Context, name string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
		}
	}
	if c.Proxy == nil {
		c.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	}
	if c.Unresolved == nil {
		c.Unresolved = func(string, string) error { return errors.New("its address is not known here") }
	}
	client := &Client{cfg: c, dialer: &net.Dialer{Timeout: dialLimit}}
	var err error
	if client.roots, err = loadRoots(c.CAFile); err != nil {
		return nil, err
	}
	client.direct = client.transport()
	client.direct.DialContext = client.dial
	client.proxied = client.transport()
	client.proxied.DialContext = client.dialer.DialContext
	client.proxied.Proxy = c.Proxy
	client.proxied.OnProxyConnectResponse = proxyAnswered
	return client, nil
}

// transport keeps no connection: a request has to be judged by the address that it uses.
func (c *Client) transport() *http.Transport {
	return &http.Transport{
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.roots},
		TLSHandshakeTimeout:    handshakeLimit,
		DisableKeepAlives:      true,
		DisableCompression:     true, // unpacked here, within bounds
		MaxResponseHeaderBytes: headerBytes,
		ForceAttemptHTTP2:      true,
	}
}

// loadRoots returns the authorities to trust; nil is the system's.
func loadRoots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("tools.ca_file: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("tools.ca_file %q holds no PEM certificate", file)
	}
	return roots, nil
}

// Fetch carries a request and follows its redirects.
func (c *Client) Fetch(ctx context.Context, r tool.WebRequest) (tool.WebResponse, error) {
	for hops := 0; ; hops++ {
		answer, next, err := c.exchange(ctx, r)
		if err != nil || next == nil {
			return answer, err
		}
		if hops == maxRedirects {
			return answer, fault(tool.Failed, "%s redirects more than %d times; ask for the last address itself", shown(r.URL), maxRedirects)
		}
		if err := c.cfg.Redirect(r.URL, next.URL); err != nil {
			return answer, fault(tool.Denied, "denied by policy: %v (%s)", err, shown(next.URL))
		}
		r = *next
	}
}

// exchange carries one request; next is where its answer sends the caller.
func (c *Client) exchange(ctx context.Context, r tool.WebRequest) (_ tool.WebResponse, next *tool.WebRequest, err error) {
	req, err := c.request(ctx, r)
	if err != nil {
		return tool.WebResponse{}, nil, err
	}
	proxy, err := c.cfg.Proxy(req)
	if err != nil {
		return tool.WebResponse{}, nil, fault(tool.Failed, "the proxy setting is no address (HTTPS_PROXY, HTTP_PROXY); write it as http://host:port")
	}
	transport := c.direct
	if proxy != nil {
		if err := c.judgeBehindProxy(ctx, req.URL); err != nil {
			return tool.WebResponse{}, nil, err
		}
		transport = c.proxied
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return tool.WebResponse{}, nil, c.unanswered(ctx, req.URL, proxy, err)
	}
	defer resp.Body.Close()
	if proxy != nil && resp.StatusCode == http.StatusProxyAuthRequired {
		return tool.WebResponse{}, nil, loginWanted(proxy)
	}
	if next, err := redirected(r, req.URL, resp); next != nil || err != nil {
		return tool.WebResponse{Status: resp.StatusCode, FinalURL: r.URL}, next, err
	}
	answer := tool.WebResponse{Status: resp.StatusCode, FinalURL: r.URL, Headers: resp.Header}
	answer.Body, answer.Truncated, err = readBody(resp)
	if err != nil {
		return tool.WebResponse{}, nil, c.broken(ctx, req.URL, len(answer.Body), err)
	}
	return answer, nil, nil
}

func (c *Client) request(ctx context.Context, r tool.WebRequest) (*http.Request, error) {
	var body io.Reader
	if len(r.Body) > 0 {
		body = bytes.NewReader(r.Body)
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, r.URL, body)
	if err != nil {
		return nil, fault(tool.BadArgs, "that is no request: check method and URL") // the error repeats the URL
	}
	if req.URL.Scheme != "http" && req.URL.Scheme != "https" || req.URL.Hostname() == "" || req.URL.User != nil {
		return nil, fault(tool.BadArgs, "only http and https addresses without a user name are fetched")
	}
	req.URL.Fragment = ""
	req.Header.Set("User-Agent", c.cfg.UserAgent)
	req.Header.Set("Accept-Encoding", "gzip")
	for name, value := range r.Headers {
		req.Header.Set(name, value)
	}
	return req, nil
}

// redirected is the request that an answer sends the caller to; nil is none.
func redirected(r tool.WebRequest, from *url.URL, resp *http.Response) (*tool.WebRequest, error) {
	var keep bool
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound:
		keep = r.Method != http.MethodPost
	case http.StatusSeeOther:
		keep = r.Method == http.MethodHead
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		keep = true
	default:
		return nil, nil
	}
	where := resp.Header.Get("Location")
	if where == "" {
		return nil, nil
	}
	to, err := from.Parse(where)
	if err != nil {
		return nil, fault(tool.Failed, "%s redirects to what is no address", shown(r.URL))
	}
	next := tool.WebRequest{Method: r.Method, URL: to.String(), Headers: r.Headers, Body: r.Body}
	if !keep {
		next.Method, next.Body = http.MethodGet, nil
	}
	if origin(from) != origin(to) {
		if len(next.Body) > 0 {
			return nil, fault(tool.Denied, "denied by policy: a redirect would send the body on to %s; ask for that address itself", to.Host)
		}
		next.Headers = nil // whatever they hold was meant for the first server
	}
	return &next, nil
}

// origin is scheme, host and port.
func origin(u *url.URL) string {
	return strings.ToLower(u.Scheme + "://" + u.Hostname() + ":" + portOf(u))
}

func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}
