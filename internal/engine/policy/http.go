package policy

import (
	"encoding/base64"
	"net/netip"
	"path"
	"strconv"
	"strings"
	"unicode"

	"car/internal/engine/ir"
	"car/internal/engine/shell"
)

// httpRequest judges a call of the HTTP tool (D23, D39, D06).
func (j *judge) httpRequest(a ir.Action) {
	c := &call{name: "http_request", tier: ir.FullAccess, rev: ir.Irreversible, verdict: Ask, reason: "reaches the network"}
	switch text(a.Parameters, "method") {
	case "", "GET", "get", "HEAD", "head", "OPTIONS", "options":
		c.rev = ir.Reversible
	}
	url := text(a.Parameters, "url")
	host := j.url(c, url, false)
	j.host(host)
	j.method(c, text(a.Parameters, "method"))
	if headers, ok := a.Parameters["headers"].(map[string]any); ok {
		for _, name := range sortedKeys(headers) {
			value, _ := headers[name].(string)
			j.header(c, name, value, host)
		}
	}
	if body := text(a.Parameters, "body"); j.holdsSecret(body) {
		j.deny(c, ruleSecretSend, "would send a secret in the body", "use the header made for it, such as Authorization")
	}
	j.add(c)
	if j.verdict == Ask {
		j.say(Reason{Verdict: Ask, Rule: ruleTier, Text: "http_request reaches " + shorten(host)})
	}
}

// Destination judges one more address of a request that is under way: a
// redirect's URL, or an address that a name resolved to. name is the host that
// led there. Anything but Allow must not be contacted; local names may lead to
// local addresses (T-WEB-2).
func (p *Policy) Destination(name string, addr netip.Addr) (Verdict, string) {
	named := reachOf(name)
	switch r := reachAddr(addr); {
	case r == reachMetadata:
		return Deny, "it leads to a metadata or link-local address"
	case r == reachDisguised:
		return Deny, "it leads to an address that stands for this machine"
	case r == reachLocal && named != reachLocal:
		return Deny, "a public name leads to a private address"
	case r == reachOdd && named != reachOdd:
		return Deny, "it leads to a reserved or shared address"
	}
	return Allow, ""
}

// Redirect judges the target of a redirect.
func (p *Policy) Redirect(from, to string) (Verdict, string) {
	j := p.newJudge("")
	c := &call{name: "the redirect", tier: ir.FullAccess, verdict: Allow}
	host := j.url(c, to, false)
	if c.verdict == Deny {
		return Deny, j.reasons[0].Text
	}
	f := p.newJudge("")
	source := f.url(&call{}, from, false)
	if reachOf(host) != reachPublic && !(reachOf(host) == reachLocal && reachOf(source) == reachLocal) {
		return Deny, "a redirect from " + shorten(source) + " leads to a private address"
	}
	if strings.HasPrefix(strings.ToLower(from), "https:") && strings.HasPrefix(strings.ToLower(to), "http:") {
		return Deny, "a redirect from https to http"
	}
	return Allow, ""
}

func (j *judge) holdsSecret(s string) bool {
	if s == "" {
		return false
	}
	if _, n := j.p.redactor.String(s); n > 0 {
		return true
	}
	// Encoded once, a secret is still one.
	for f := range strings.FieldsFuncSeq(s, func(r rune) bool {
		return !(r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) || r == '+' || r == '/' || r == '-' || r == '_')
	}) {
		if len(f) < 16 {
			continue
		}
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			if b, err := enc.DecodeString(f); err == nil && printable(b) {
				if _, n := j.p.redactor.String(string(b)); n > 0 {
					return true
				}
			}
		}
	}
	return false
}

func printable(b []byte) bool {
	for _, x := range b {
		if x < 0x09 || x > 0x7e {
			return false
		}
	}
	return true
}

// url judges a URL and returns its host. loose allows what command line clients
// allow: no scheme, other schemes, user names.
func (j *judge) url(c *call, raw string, loose bool) (host string) {
	bad := func(why string) {
		j.deny(c, ruleNetwork, "is given a URL that "+why, "write it plainly: https://host/path")
	}
	for _, r := range raw {
		if r <= 0x20 || r == 0x7f || r == '\\' || r >= 0x80 && r < 0xa0 {
			bad("parsers read differently")
			return ""
		}
		if invisible(r) {
			j.ask(c, ruleLookAlike, "is given a URL with an invisible character", "")
		}
	}
	scheme, rest, found := strings.Cut(raw, "://")
	if !found {
		if !loose || strings.HasPrefix(raw, "//") {
			bad("has no scheme, or one that is not followed by ://")
			return ""
		}
		scheme, rest = "http", raw
	}
	switch strings.ToLower(scheme) {
	case "http", "https":
	default:
		if !loose {
			bad("is not for the web")
			return ""
		}
	}
	if rest == "" || rest[0] == '/' {
		bad("names no host")
		return ""
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	host = j.authority(c, rest[:end], loose)
	if j.holdsSecret(raw) {
		j.deny(c, ruleSecretSend, "would put a secret into a URL", "use the header made for it, such as Authorization")
	}
	return host
}

// authority judges user, host and port.
func (j *judge) authority(c *call, auth string, loose bool) string {
	if i := strings.LastIndexByte(auth, '@'); i >= 0 {
		user := auth[:i]
		if !loose || strings.Contains(user, "@") {
			j.deny(c, ruleNetwork, "is given a URL with a user name in front of the host", "send logins in the Authorization header")
		}
		auth = auth[i+1:]
	}
	host, port := auth, ""
	if strings.HasPrefix(auth, "[") {
		inner, after, ok := strings.Cut(auth[1:], "]")
		if !ok {
			j.deny(c, ruleNetwork, "is given a URL with an unfinished address", "")
			return ""
		}
		host, port = inner, strings.TrimPrefix(after, ":")
		host = strings.ReplaceAll(host, "%25", "%")
	} else if h, p, ok := strings.Cut(auth, ":"); ok {
		host, port = h, p
		if strings.Contains(host, "%") {
			host = ""
		}
	}
	if host == "" || !strings.HasPrefix(auth, "[") && strings.ContainsAny(host, "%[]<>^`{|}\"'!$&()*+,;=") {
		j.deny(c, ruleNetwork, "is given a URL whose host parsers read differently", "write the host plainly")
		return ""
	}
	if port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			j.deny(c, ruleNetwork, "is given a URL with a port that is none", "")
		}
	}
	j.judgeReach(c, host)
	return strings.ToLower(host)
}

func (j *judge) judgeReach(c *call, host string) {
	switch reachOf(host) {
	case reachMetadata:
		j.deny(c, ruleNetwork, "would contact a metadata or link-local address", "ask the person for what you need to know")
	case reachDisguised:
		j.deny(c, ruleNetwork, "would contact an address in disguise", "write the address plainly")
	case reachOdd:
		j.ask(c, ruleNetwork, "contacts a reserved address or a name that looks like another", "")
	case reachLocal, reachPublic:
	}
}

func (j *judge) method(c *call, m string) {
	switch strings.ToUpper(m) {
	case "", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
	case "CONNECT", "TRACE", "TRACK", "DEBUG":
		j.deny(c, ruleNetwork, "uses a method that reaches past the named server", "")
	default:
		if strings.ContainsFunc(m, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("()<>@,;:\\\"/[]?={}", r) }) {
			j.deny(c, ruleNetwork, "uses a method that is none", "")
			return
		}
		j.ask(c, ruleNetwork, "uses an unusual method", "")
	}
}

func (j *judge) header(c *call, name, value, host string) {
	low := strings.ToLower(strings.TrimSpace(name))
	if strings.ContainsAny(name+value, "\r\n\x00") || name == "" || strings.ContainsAny(name, " :\t") {
		j.deny(c, ruleNetwork, "has a header with a line break or a name that is none", "")
		return
	}
	switch low {
	case "host", ":authority":
		if h, _, _ := strings.Cut(strings.ToLower(value), ":"); h != strings.ToLower(host) {
			j.deny(c, ruleNetwork, "names another server in its Host header", "name the server in the URL")
		}
		return
	case "x-forwarded-host", "x-original-url", "x-rewrite-url", "x-host", "forwarded", "x-forwarded-server", "proxy-authorization", "proxy-connection",
		"transfer-encoding", "content-length", "upgrade", "te", "trailer":
		j.deny(c, ruleNetwork, "has a header that reaches past the named server ("+low+")", "")
		return
	case "metadata-flavor", "metadata", "x-google-metadata-request", "x-aws-ec2-metadata-token", "x-aws-ec2-metadata-token-ttl-seconds", "x-metadata-token":
		j.deny(c, ruleNetwork, "has the header that metadata servers ask for", "")
		return
	}
	if !j.holdsSecret(value) && !j.holdsSecret(name+": "+value) {
		return
	}
	switch low {
	case "authorization", "x-api-key", "api-key", "x-auth-token", "x-access-token", "private-token", "x-goog-api-key", "apikey", "x-vault-token", "cookie":
		j.say(Reason{Verdict: Ask, Rule: ruleSecretSend, Text: "http_request sends a secret in its " + low + " header"})
		return
	}
	j.deny(c, ruleSecretSend, "would send a secret in a header that is not made for it ("+low+")", "use Authorization")
}

// address judges a host or URL on a command line.
func (j *judge) address(c *call, w shell.Word) {
	j.network = true
	if what, ok := j.secretPart(w); ok && !loginURL(w) {
		j.deny(c, ruleSecretSend, "would put "+what+" into a host name or URL", "use the header or login file made for it")
		return
	}
	raw, ok := plainText(w)
	if !ok {
		j.ask(c, ruleNetwork, "contacts a host that is not known before it runs", "")
		return
	}
	if scheme, rest, found := strings.Cut(raw, "://"); found {
		switch strings.ToLower(scheme) {
		case "file":
			if i := strings.IndexByte(rest, '/'); i >= 0 {
				j.read(c, shell.Lit(path.Clean(rest[i:])), false)
			}
			return
		case "ext", "fd":
			j.ask(c, ruleHelper, "uses a transport that starts a program", "")
			return
		}
	}
	// dig's options and servers.
	if raw = strings.TrimPrefix(raw, "@"); raw == "" || strings.HasPrefix(raw, "-") || strings.HasPrefix(raw, "+") {
		return
	}
	if c.name == "curl" {
		// Curl's own globbing: judge what stands before it.
		if i := strings.IndexAny(raw, "{"); i >= 0 {
			raw = raw[:i]
		}
	}
	host := j.url(c, raw, true)
	j.host(host)
}

// loginURL reports a database URL, whose login is made for a secret (D06).
func loginURL(w shell.Word) bool {
	scheme, _, ok := strings.Cut(w.Prefix(), "://")
	switch strings.ToLower(scheme) {
	case "postgres", "postgresql", "mysql", "mongodb", "mongodb+srv", "redis", "rediss", "amqp", "amqps", "mssql", "clickhouse", "mariadb", "cockroachdb":
		return ok
	}
	return false
}
