package webclient

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"car/internal/engine/tool"
)

func fault(kind tool.FaultKind, format string, args ...any) error {
	return &tool.Fault{Kind: kind, Text: fmt.Sprintf(format, args...)}
}

// shown is an address without what may be secret in it.
func shown(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "the address"
	}
	return u.Scheme + "://" + u.Host + u.EscapedPath()
}

// proxyRefused is the answer of a proxy to CONNECT that is no tunnel.
type proxyRefused struct{ status int }

func (e proxyRefused) Error() string { return fmt.Sprintf("the proxy answered %d", e.status) }

func proxyAnswered(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return proxyRefused{resp.StatusCode}
}

// loginWanted names the proxy and the setting, and never the password.
func loginWanted(proxy *url.URL) error {
	return fault(tool.Failed, "proxy %s wants a login (407)\nset user and password in the proxy's address: HTTPS_PROXY=http://USER:PASSWORD@%s", proxy.Host, proxy.Host)
}

// unanswered words why no answer came, so that a person can act (B089).
func (c *Client) unanswered(ctx context.Context, u, proxy *url.URL, err error) error {
	var f *tool.Fault
	if errors.As(err, &f) {
		return f
	}
	if over := overdue(ctx, u, 0); over != nil {
		return over
	}
	through := ""
	if proxy != nil {
		through = " through proxy " + proxy.Host
	}
	var refused proxyRefused
	if errors.As(err, &refused) {
		if refused.status == http.StatusProxyAuthRequired {
			return loginWanted(proxy)
		}
		return fault(tool.Failed, "proxy %s refused to connect to %s: it answered %d", proxy.Host, u.Host, refused.status)
	}
	if why, hint, ok := tlsProblem(u.Host, err); ok {
		return fault(tool.Failed, "%s%s\n%s", why, through, hint)
	}
	return fault(tool.Failed, "no answer from %s%s: %s", u.Host, through, networkProblem(err))
}

// overdue words the end of a request's time; nil while there is some.
func overdue(ctx context.Context, u *url.URL, bytes int) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fault(tool.TimedOut, "%s had not answered in full when the time was over (%d bytes came); timeout_secs may be up to 120", u.Host, bytes)
	case ctx.Err() != nil:
		return fault(tool.Canceled, "canceled: the request to %s was given up", u.Host)
	}
	return nil
}

// broken words why an answer ended before its end.
func (c *Client) broken(ctx context.Context, u *url.URL, bytes int, err error) error {
	if over := overdue(ctx, u, bytes); over != nil {
		return over
	}
	switch {
	case errors.Is(err, errBomb):
		return fault(tool.TooLarge, "the answer of %s was given up: %v", u.Host, err)
	case errors.Is(err, errPacked), errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum):
		return fault(tool.Unsupported, "the answer of %s cannot be unpacked: %v", u.Host, err)
	}
	return fault(tool.Failed, "the answer of %s broke off after %d bytes: %s", u.Host, bytes, networkProblem(err))
}

// tlsProblem recognises a failed handshake and names what mends it.
func tlsProblem(host string, err error) (why, hint string, ok bool) {
	var (
		unknown  x509.UnknownAuthorityError
		name     x509.HostnameError
		invalid  x509.CertificateInvalidError
		verify   *tls.CertificateVerificationError
		record   tls.RecordHeaderError
		op       *net.OpError
		trustNew = "a person can trust it: put its CA certificate into a PEM file and set tools.ca_file (or SSL_CERT_FILE)"
	)
	switch {
	case errors.As(err, &unknown):
		return "the certificate of " + host + " is signed by an authority that is not trusted", trustNew, true
	case errors.As(err, &name):
		return "the certificate of " + host + " is for another name", "check the host in the address", true
	case errors.As(err, &invalid):
		return "the certificate of " + host + " is not valid: " + invalid.Error(), "check the clock and the certificate", true
	case errors.As(err, &verify):
		return "the certificate of " + host + " cannot be verified", trustNew, true
	case errors.As(err, &record):
		return host + " does not speak TLS", "check whether the address should start with http://", true
	case errors.As(err, &op) && op.Err != nil && strings.HasPrefix(op.Err.Error(), "tls: "):
		return "the TLS handshake with " + host + " failed: " + op.Err.Error(), "TLS 1.2 or newer is needed", true
	}
	return "", "", false
}

func networkProblem(err error) string {
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return "the name " + dns.Name + " does not resolve"
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Op + ": " + op.Err.Error()
	}
	return err.Error()
}
