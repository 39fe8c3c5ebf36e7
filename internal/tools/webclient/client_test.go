package webclient

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"car/internal/engine/policy"
	"car/internal/engine/tool"
)

// client is one over the real policy, as cmd/car wires it.
func client(t *testing.T, change func(*Config)) *Client {
	t.Helper()
	judge, err := policy.New(policy.Config{Root: t.TempDir(), Home: t.TempDir(), Dialect: "bash", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	refusal := func(v policy.Verdict, why string) error {
		if v == policy.Allow {
			return nil
		}
		return errors.New(why)
	}
	c := Config{
		Destination: func(name, _ string, a netip.Addr) error { return refusal(judge.Destination(name, a)) },
		Redirect:    func(from, to string) error { return refusal(judge.Redirect(from, to)) },
		UserAgent:   "car-test",
	}
	if change != nil {
		change(&c)
	}
	made, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func get(t *testing.T, c *Client, address string) (tool.WebResponse, error) {
	t.Helper()
	return c.Fetch(t.Context(), tool.WebRequest{Method: "GET", URL: address})
}

// refused holds that a request fails with a kind and words.
func refused(t *testing.T, err error, kind tool.FaultKind, words ...string) {
	t.Helper()
	var f *tool.Fault
	if !errors.As(err, &f) || f.Kind != kind {
		t.Fatalf("got %v, want a fault of kind %d", err, kind)
	}
	for _, w := range words {
		if !strings.Contains(f.Text, w) {
			t.Errorf("%q does not say %q", f.Text, w)
		}
	}
	if strings.Count(f.Text, "\n") > 2 {
		t.Errorf("%q is longer than three lines", f.Text)
	}
}

// T-WEB-2: a name that answers public at first and private afterwards never connects.
func TestRebindingNeverConnects(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	s := serve(t, func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	var asked atomic.Int32
	c := client(t, func(c *Config) {
		c.Lookup = func(context.Context, string) ([]netip.Addr, error) {
			if asked.Add(1) == 1 {
				return []netip.Addr{netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("127.0.0.1")}, nil
			}
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		}
	})
	for range 2 {
		_, err := get(t, c, "http://rebind.example:"+port+"/")
		refused(t, err, tool.Denied, "rebind.example")
	}
	// The socket's own address has the last word, whatever was resolved before.
	if err := c.judgeDialled("rebind.example", port, "127.0.0.1:"+port); err == nil {
		t.Error("the dialer would use a private address for a public name")
	}
	if reached.Load() != 0 {
		t.Error("the private server was reached")
	}
}

// T-WEB-2: every spelling of an inner address that a name or an address can have.
func TestInnerAddressesAreDenied(t *testing.T) {
	t.Parallel()
	for _, a := range []string{"169.254.169.254", "::1", "0.0.0.0", "10.0.0.1", "100.64.0.1", "224.0.0.1", "240.0.0.1", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
		"64:ff9b::7f00:1", "2002:7f00:1::", "fe80::1", "fd00::1", "fd00:ec2::254", "::", "192.168.1.1", "2001:0:53aa:64c:0:0:80ff:fffe"} {
		c := client(t, func(c *Config) {
			c.Lookup = func(context.Context, string) ([]netip.Addr, error) { return []netip.Addr{netip.MustParseAddr(a)}, nil }
		})
		if _, err := get(t, c, "http://public.example/"); err == nil {
			t.Errorf("%s was dialled", a)
		} else {
			refused(t, err, tool.Denied, "public.example")
		}
	}
}

// T-WEB-2: redirects are judged one by one, in every spelling.
func TestRedirectsToInnerAddresses(t *testing.T) {
	t.Parallel()
	var inner atomic.Int32
	victim := serve(t, func(http.ResponseWriter, *http.Request) { inner.Add(1) })
	_, port, _ := net.SplitHostPort(victim.Listener.Addr().String())
	for _, to := range []string{"http://169.254.169.254/latest/meta-data/", "http://[::ffff:127.0.0.1]:" + port, "http://2130706433:" + port, "http://0x7f000001:" + port,
		"http://0177.0.0.1:" + port, "http://0.0.0.0:" + port, "http://127.1:" + port, "http://[::ffff:a9fe:a9fe]/", "http://metadata.google.internal/",
		"http://user@127.0.0.1:" + port, "file:///etc/passwd", "gopher://127.0.0.1:" + port, "http://①②⑦.0.0.1:" + port} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Location", to); w.WriteHeader(302) })
		_, err := get(t, client(t, nil), s.URL)
		if err == nil {
			t.Errorf("followed to %s", to)
			continue
		}
		refused(t, err, tool.Denied, "denied by policy")
	}
	if inner.Load() != 0 {
		t.Error("an inner server was reached")
	}
}

// T-WEB-1: five redirects and no more.
func TestRedirectLoop(t *testing.T) {
	t.Parallel()
	var hops atomic.Int32
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		hops.Add(1)
		http.Redirect(w, r, "/again", http.StatusFound)
	})
	_, err := get(t, client(t, nil), s.URL)
	refused(t, err, tool.Failed, "5 times")
	if hops.Load() != 6 {
		t.Errorf("asked %d times", hops.Load())
	}
}

// T-WEB-3: nothing that was meant for one server goes to another.
func TestHeadersStayWithTheirOrigin(t *testing.T) {
	t.Parallel()
	var seen http.Header
	var method, body string
	other := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		seen, method, body = r.Header.Clone(), r.Method, string(b)
	})
	status := http.StatusFound
	first := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL+"/there", status) })
	request := tool.WebRequest{Method: "POST", URL: first.URL, Body: []byte("words"), Headers: map[string]string{"Authorization": "Bearer abc", "X-Mine": "1", "Cookie": "a=b"}}
	answer, err := client(t, nil).Fetch(t.Context(), request)
	if err != nil || answer.FinalURL != other.URL+"/there" {
		t.Fatalf("%v, %v", answer.FinalURL, err)
	}
	for _, name := range []string{"Authorization", "X-Mine", "Cookie"} {
		if seen.Get(name) != "" {
			t.Errorf("%s went along", name)
		}
	}
	if method != "GET" || body != "" {
		t.Errorf("%s %q", method, body)
	}
	status = http.StatusTemporaryRedirect
	_, err = client(t, nil).Fetch(t.Context(), request)
	refused(t, err, tool.Denied, "body")
}

// T-WEB-1: an answer is bounded in what comes, in what it unpacks to, and in time.
func TestBounds(t *testing.T) {
	t.Parallel()
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = z.Write(make([]byte, 64<<20))
	_ = z.Close()
	var small bytes.Buffer
	z = gzip.NewWriter(&small)
	_, _ = z.Write([]byte("unpacked"))
	_ = z.Close()
	stop := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		case "/small":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(small.Bytes())
		case "/lie":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write([]byte("this is not gzip at all"))
		case "/br":
			w.Header().Set("Content-Encoding", "br")
			_, _ = w.Write([]byte("x"))
		case "/long":
			_, _ = w.Write(bytes.Repeat([]byte("x"), 3<<20))
		case "/slow":
			_, _ = w.Write([]byte("some"))
			w.(http.Flusher).Flush()
			<-stop
		case "/short":
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("half"))
		}
	})
	t.Cleanup(func() { close(stop) })
	c := client(t, nil)
	_, err := get(t, c, s.URL+"/bomb")
	refused(t, err, tool.TooLarge, "100 times")
	if a, err := get(t, c, s.URL+"/small"); err != nil || string(a.Body) != "unpacked" {
		t.Errorf("small: %q, %v", a.Body, err)
	}
	_, err = get(t, c, s.URL+"/lie")
	refused(t, err, tool.Unsupported, "unpacked")
	_, err = get(t, c, s.URL+"/br")
	refused(t, err, tool.Unsupported)
	if a, err := get(t, c, s.URL+"/long"); err != nil || len(a.Body) != 2<<20 || !a.Truncated {
		t.Errorf("long: %d, %v, %v", len(a.Body), a.Truncated, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = c.Fetch(ctx, tool.WebRequest{Method: "GET", URL: s.URL + "/slow"})
	refused(t, err, tool.TimedOut, "timeout_secs")
	_, err = get(t, c, s.URL+"/short")
	refused(t, err, tool.Failed, "broke off after 4 bytes")
}

// B089 tls-proxy, P-STREAM-8: a private authority works from a file, and its absence
// names the setting.
func TestB089PrivateAuthority(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }))
	s.Config.ErrorLog = nil
	s.StartTLS()
	t.Cleanup(s.Close)
	_, err := get(t, client(t, nil), s.URL)
	refused(t, err, tool.Failed, "not trusted", "tools.ca_file", "SSL_CERT_FILE")
	file := filepath.Join(t.TempDir(), "ca.pem")
	data := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if a, err := get(t, client(t, func(c *Config) { c.CAFile = file }), s.URL); err != nil || string(a.Body) != "hello" {
		t.Errorf("with the authority: %q, %v", a.Body, err)
	}
	plain := serve(t, func(http.ResponseWriter, *http.Request) {})
	_, err = get(t, client(t, nil), strings.Replace(plain.URL, "http:", "https:", 1))
	refused(t, err, tool.Failed, "does not speak TLS")
	old := httptest.NewUnstartedServer(http.NotFoundHandler())
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}
	old.StartTLS()
	t.Cleanup(old.Close)
	_, err = get(t, client(t, nil), old.URL)
	refused(t, err, tool.Failed, "TLS")
	if _, err := New(Config{Destination: c0, Redirect: c1, CAFile: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("a missing authority file is no error")
	}
}

func c0(string, string, netip.Addr) error { return nil }
func c1(string, string) error             { return nil }

// B089 tls-proxy: 407 names the proxy and no password; the target is judged before.
func TestB089Proxy(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Header.Get("Proxy-Authorization") == "" || strings.Contains(r.Host, "locked") {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		fmt.Fprint(w, "through the proxy to "+r.URL.Host)
	})
	through := func(user *url.Userinfo) *Client {
		return client(t, func(c *Config) {
			c.Lookup = func(_ context.Context, name string) ([]netip.Addr, error) {
				switch name {
				case "inner.example":
					return []netip.Addr{netip.MustParseAddr("10.1.2.3")}, nil
				case "nowhere.example":
					return nil, &net.DNSError{Name: name, IsNotFound: true}
				}
				return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
			}
			c.Proxy = func(*http.Request) (*url.URL, error) {
				u, err := url.Parse(proxy.URL)
				u.User = user
				return u, err
			}
		})
	}
	host := strings.TrimPrefix(proxy.URL, "http://")
	login := url.UserPassword("me", "hunter2hunter2")
	for _, scheme := range []string{"http", "https"} {
		_, err := get(t, through(nil), scheme+"://public.example/")
		refused(t, err, tool.Failed, host, "407", "HTTPS_PROXY")
		_, err = get(t, through(login), scheme+"://locked.example/")
		refused(t, err, tool.Failed, host, "407")
		if strings.Contains(err.Error(), "hunter2") {
			t.Error("the password of the proxy is told")
		}
	}
	if a, err := get(t, through(login), "http://public.example/"); err != nil || string(a.Body) != "through the proxy to public.example" {
		t.Errorf("%q, %v", a.Body, err)
	}
	before := asked.Load()
	_, err := get(t, through(login), "http://inner.example/")
	refused(t, err, tool.Denied, "private")
	_, err = get(t, through(login), "http://nowhere.example/")
	refused(t, err, tool.Denied, "tools.allow_hosts")
	if asked.Load() != before {
		t.Error("the proxy was asked for what is refused")
	}
}

// T-WEB-1: no user names, no other schemes.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, a := range []string{"ftp://x/", "http://u:p@x/", "http:///", "x", "http://x\x00/"} {
		_, err := get(t, client(t, nil), a)
		refused(t, err, tool.BadArgs)
	}
}

// T-SET-9: cancel ends a request at once.
func TestCancel(t *testing.T) {
	t.Parallel()
	arrived, stop := make(chan struct{}), make(chan struct{})
	s := serve(t, func(http.ResponseWriter, *http.Request) { close(arrived); <-stop })
	t.Cleanup(func() { close(stop) })
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	_, err := client(t, nil).Fetch(ctx, tool.WebRequest{Method: "GET", URL: s.URL})
	refused(t, err, tool.Canceled)
}
