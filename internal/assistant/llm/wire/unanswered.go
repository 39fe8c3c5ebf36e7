package wire

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"car/internal/assistant/llm"
)

// unanswered says why a request got no answer at all.
func (a *Answer) unanswered(err error) *llm.Error {
	c := a.client
	if a.parent() != nil {
		return canceled(c.provider, a.parent())
	}
	if a.watch.fired.Load() {
		return &llm.Error{Kind: llm.KindTimeout, Provider: c.provider, Message: c.base.Host + " did not answer within " + c.firstByte.String()}
	}
	if e, ok := asError(err); ok {
		return e
	}
	if c.proxy != nil {
		if _, bad := c.proxy(a.request); bad != nil { // its text repeats the setting, password included
			return &llm.Error{Kind: llm.KindInvalid, Provider: c.provider, Message: "the proxy setting for " + c.base.Host + " cannot be used",
				Hint: "write it as http://host:port"}
		}
	}
	if why, hint, ok := c.tlsProblem(err); ok {
		return &llm.Error{Kind: llm.KindTLS, Provider: c.provider, Message: why, Hint: hint, Err: err}
	}
	var inner *url.Error // its own text repeats the address
	if errors.As(err, &inner) {
		err = inner.Err
	}
	e := &llm.Error{Kind: llm.KindNetwork, Provider: c.provider, Err: err,
		Message: "no answer from " + c.base.Host + a.through() + ": " + clean(scrub(networkProblem(err), a.secrets))}
	if refusedHere(err) {
		e.Advice, e.Hint = llm.AdviceBrief, "nothing listens there: start the server, or check the address"
	}
	return e
}

// refusedHere reports that this very machine has nobody at the address, which no
// wait will mend (A-LLM-9).
func refusedHere(err error) bool {
	var op *net.OpError
	if !errors.As(err, &op) || !errors.Is(err, syscall.ECONNREFUSED) {
		return false
	}
	at, ok := op.Addr.(*net.TCPAddr)
	return ok && at.IP.IsLoopback()
}

// through names the proxy, if there is one.
func (a *Answer) through() string {
	if proxy := a.client.proxyOf(a.request); proxy != "" {
		return " through proxy " + proxy
	}
	return ""
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

// tlsProblem recognises a failed handshake and names the setting that mends it (B089).
func (c *Client) tlsProblem(err error) (why, hint string, ok bool) {
	var (
		unknown  x509.UnknownAuthorityError
		name     x509.HostnameError
		invalid  x509.CertificateInvalidError
		verify   *tls.CertificateVerificationError
		record   tls.RecordHeaderError
		alert    *net.OpError
		host     = c.base.Host
		trustNew = "put its CA certificate into a PEM file and set ca_file (or SSL_CERT_FILE)"
	)
	switch {
	case errors.As(err, &unknown):
		return "the certificate of " + host + " is signed by an authority that is not trusted", trustNew, true
	case errors.As(err, &name):
		return "the certificate of " + host + " is for another name", "check base_url", true
	case errors.As(err, &invalid):
		return "the certificate of " + host + " is not valid: " + clean(invalid.Error()), "check the clock and the certificate", true
	case errors.As(err, &verify):
		return "the certificate of " + host + " cannot be verified", trustNew, true
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return host + " does not speak TLS", "check whether base_url should start with http://", true
	case errors.As(err, &alert) && alert.Err != nil && strings.HasPrefix(alert.Err.Error(), "tls: "): // an alert's own type is not exported
		return "the TLS handshake with " + host + " failed: " + clean(alert.Err.Error()), "TLS 1.2 or newer is needed", true
	}
	return "", "", false
}
