package wire

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode"
)

// Config says how to reach one provider. The zero value of a field is its default.
type Config struct {
	// Provider is the configured name, for errors.
	Provider string
	// BaseURL is http or https, without user and fragment. Its host is the only one that is talked to.
	BaseURL string
	// Headers are added to every request. Their values count as secrets.
	Headers map[string]string
	// Proxy says which proxy a request goes through; nil is none. The caller decides
	// what it is made of; http.ProxyFromEnvironment fits.
	Proxy func(*http.Request) (*url.URL, error)
	// CAFile is a PEM file of authorities to trust besides the system's.
	CAFile string
	// FirstByte bounds the wait for the first byte of an answer: 90 s, or 600 s for a local server.
	FirstByte time.Duration
	// Idle bounds each silence after it: 90 s.
	Idle time.Duration
	// Now is the clock for Retry-After dates; without one, they count from the answer's own Date.
	Now func() time.Time
}

// New checks a Config and returns its client. An error names the field.
func New(c Config) (*Client, error) {
	base, err := parseBase(c.BaseURL)
	if err != nil {
		return nil, err
	}
	headers, err := checkHeaders(c.Headers)
	if err != nil {
		return nil, err
	}
	roots, err := loadRoots(c.CAFile)
	if err != nil {
		return nil, err
	}
	local := isLocal(base.Hostname())
	if c.FirstByte == 0 {
		c.FirstByte = idleLimit
		if local {
			c.FirstByte = localFirstByte
		}
	}
	if c.Idle == 0 {
		c.Idle = idleLimit
	}
	client := &Client{provider: c.Provider, base: base, local: local, headers: headers,
		firstByte: c.FirstByte, idle: c.Idle, drain: drainLimit, now: c.Now, proxy: c.Proxy}
	client.http = &http.Client{
		Transport: &http.Transport{
			Proxy:                  c.Proxy,
			OnProxyConnectResponse: client.proxyAnswered,
			DialContext:            (&net.Dialer{Timeout: dialLimit}).DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
			TLSHandshakeTimeout:    handshakeLimit,
			ForceAttemptHTTP2:      true,
			DisableCompression:     true, // compressing proxies hold a stream back
			IdleConnTimeout:        idleConnection,
		},
		// A redirect would carry the key to wherever it points.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return client, nil
}

func parseBase(text string) (*url.URL, error) {
	base, err := url.Parse(strings.TrimSpace(text))
	switch {
	case text == "":
		return nil, fmt.Errorf("base_url is empty")
	case err != nil:
		return nil, fmt.Errorf("base_url is not a URL") // the parser's own error repeats a password
	case base.Scheme != "http" && base.Scheme != "https":
		return nil, fmt.Errorf("base_url %q has to start with http:// or https://", base.Redacted())
	case base.Hostname() == "":
		return nil, fmt.Errorf("base_url %q names no host", base.Redacted())
	case base.User != nil:
		return nil, fmt.Errorf("base_url %q holds a user or password; set the key instead", base.Redacted())
	}
	base.Fragment = ""
	return base, nil
}

// checkHeaders refuses what net/http would refuse with the value in its error.
func checkHeaders(headers map[string]string) (http.Header, error) {
	h := http.Header{}
	for name, value := range headers {
		if name == "" || strings.ContainsFunc(name, notInHeaderName) {
			return nil, fmt.Errorf("headers: %q is no header name", name)
		}
		if strings.ContainsFunc(value, unicode.IsControl) {
			return nil, fmt.Errorf("headers: the value of %q holds a control character", name)
		}
		h.Set(name, value)
	}
	return h, nil
}

func notInHeaderName(r rune) bool {
	letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

// loadRoots returns the authorities to trust; nil is the system's.
func loadRoots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("ca_file: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("ca_file %q holds no PEM certificate", file)
	}
	return roots, nil
}

// isLocal reports whether a host is this machine or a private network, where a
// model may have to be loaded before it answers.
func isLocal(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && (ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast())
}
