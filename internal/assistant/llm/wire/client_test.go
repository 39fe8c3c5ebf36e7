package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"car/internal/assistant/llm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client makes a client of a test server that ends with the test.
func client(t *testing.T, base string, change func(*Config)) *Client {
	t.Helper()
	cfg := Config{Provider: "p", BaseURL: base}
	if change != nil {
		change(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func wantKind(t *testing.T, err error, kind llm.ErrorKind) *llm.Error {
	t.Helper()
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want an *llm.Error of kind %s", err, kind)
	}
	if e.Kind != kind || e.Provider != "p" {
		t.Fatalf("%s from %q (%v), want %s", e.Kind, e.Provider, e, kind)
	}
	return e
}

// A-LLM-13: an unusable setting is an error that names it.
func TestConfigErrors(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		want string
		cfg  Config
	}{
		{"base_url is empty", Config{}},
		{"base_url", Config{BaseURL: "ftp://x"}},
		{"base_url", Config{BaseURL: "localhost:11434"}},
		{"names no host", Config{BaseURL: "http:///v1"}},
		{"base_url is not a URL", Config{BaseURL: "http://u:secret-pw@h:port/%zz"}},
		{"holds a user or password", Config{BaseURL: "http://u:secret-pw@h"}},
		{"no header name", Config{BaseURL: "http://h", Headers: map[string]string{"a b": "c"}}},
		{`value of "X"`, Config{BaseURL: "http://h", Headers: map[string]string{"X": "secret-pw\n"}}},
		{"ca_file", Config{BaseURL: "http://h", CAFile: filepath.Join(t.TempDir(), "absent.pem")}},
		{"holds no PEM certificate", Config{BaseURL: "http://h", CAFile: empty}},
	} {
		_, err := New(tc.cfg)
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "secret-pw") {
			t.Errorf("%+v: error %v, want %q and no password", tc.cfg.BaseURL, err, tc.want)
		}
	}
}

// A-LLM-6: the base URL keeps its path and query, and the key goes where it should.
func TestRequest(t *testing.T) {
	t.Parallel()
	type seen struct{ path, key, extra, body, contentType string }
	got := make(chan seen, 1)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- seen{r.URL.String(), r.Header.Get("X-Api-Key"), r.Header.Get("X-Team"), string(body), r.Header.Get("Content-Type")}
	})
	c := client(t, s.URL+"/proxy/?api-version=3", func(c *Config) { c.Headers = map[string]string{"x-team": "blue"} })
	a, err := c.Do(t.Context(), Call{Path: "v1/messages", AuthHeader: "x-api-key", Auth: "k-1", Body: []byte(`{"a":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if want := (seen{"/proxy/v1/messages?api-version=3", "k-1", "blue", `{"a":1}`, "application/json"}); <-got != want {
		t.Errorf("the server saw something else than %+v", want)
	}
}

// A-LLM-6: a redirect is reported, not followed: it would take the key along.
func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	other := serve(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/v1?token=secret", http.StatusTemporaryRedirect)
	})
	_, err := client(t, s.URL, nil).Do(t.Context(), Call{Path: "x", AuthHeader: "x-api-key", Auth: "k-1", Body: []byte("{}")})
	e := wantKind(t, err, llm.KindInvalid)
	if !strings.Contains(e.Message, other.URL) || strings.Contains(e.Error(), "secret") || asked.Load() != 0 {
		t.Errorf("error %q, the other host was asked %d times", e.Error(), asked.Load())
	}
}

// B089, P-STREAM-8: a private CA works from ca_file; without it the setting is named.
func TestPrivateCA(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") }))
	s.Config.ErrorLog = quiet()
	s.StartTLS()
	t.Cleanup(s.Close)
	file := authority(t, s)
	_, err := client(t, s.URL, nil).Do(t.Context(), Call{Path: "x"})
	if e := wantKind(t, err, llm.KindTLS); !strings.Contains(e.Error(), "ca_file") || !strings.Contains(e.Error(), "SSL_CERT_FILE") || e.Retryable() {
		t.Errorf("error %q, want a final one that names the settings", e.Error())
	}
	trusting := client(t, s.URL, func(c *Config) { c.CAFile = file })
	a, err := trusting.Do(t.Context(), Call{Path: "x"})
	if err != nil {
		t.Fatal(err)
	}
	a.Close()

	wrongName := client(t, strings.Replace(s.URL, "127.0.0.1", "localhost", 1), func(c *Config) { c.CAFile = file })
	_, err = wrongName.Do(t.Context(), Call{Path: "x"})
	if e := wantKind(t, err, llm.KindTLS); !strings.Contains(e.Message, "another name") {
		t.Errorf("error %q", e.Error())
	}
}

// A-LLM-13: no TLS below 1.2, and a server without TLS is told as that.
func TestTLSFloor(t *testing.T) {
	t.Parallel()
	plain := serve(t, func(http.ResponseWriter, *http.Request) {})
	_, err := client(t, strings.Replace(plain.URL, "http:", "https:", 1), nil).Do(t.Context(), Call{Path: "x"})
	if e := wantKind(t, err, llm.KindTLS); !strings.Contains(e.Error(), "http://") {
		t.Errorf("error %q", e.Error())
	}
	old := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	old.TLS = oldTLS()
	old.Config.ErrorLog = quiet()
	old.StartTLS()
	t.Cleanup(old.Close)
	trusting := client(t, old.URL, func(c *Config) { c.CAFile = authority(t, old) })
	_, err = trusting.Do(t.Context(), Call{Path: "x"})
	if e := wantKind(t, err, llm.KindTLS); !strings.Contains(e.Hint, "TLS 1.2") {
		t.Errorf("error %q", e.Error())
	}
}

// B089: proxies carry both kinds of traffic; one that wants a password is named, its password is not.
func TestProxy(t *testing.T) {
	t.Parallel()
	var viaProxy atomic.Int32
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		viaProxy.Add(1)
		if r.Header.Get("Proxy-Authorization") == "" || r.Method == http.MethodConnect {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		fmt.Fprint(w, "{}")
	})
	host := strings.TrimPrefix(proxy.URL, "http://")
	through := func(user string) func(*Config) {
		return func(c *Config) {
			c.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse("http://" + user + host) }
		}
	}
	a, err := client(t, "http://model.invalid/v1", through("me:secret-pw@")).Do(t.Context(), Call{Path: "x"})
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
	for name, c := range map[string]*Client{
		"plain":  client(t, "http://model.invalid/v1", through("")),
		"tunnel": client(t, "https://model.invalid/v1", through("me:secret-pw@")),
	} {
		_, err := c.Do(t.Context(), Call{Path: "x"})
		e := wantKind(t, err, llm.KindNetwork)
		if !strings.Contains(e.Message, host) || strings.Contains(e.Error(), "secret-pw") || e.Retryable() || e.Status != 407 {
			t.Errorf("%s: error %q retryable %v", name, e.Error(), e.Retryable())
		}
	}
	broken := client(t, "http://model.invalid", func(c *Config) {
		c.Proxy = func(*http.Request) (*url.URL, error) { return nil, errors.New(`bad proxy "http://me:secret-pw@"`) }
	})
	_, err = broken.Do(t.Context(), Call{Path: "x"})
	if e := wantKind(t, err, llm.KindInvalid); strings.Contains(fmt.Sprintf("%+v", e), "secret-pw") {
		t.Errorf("error %+v", e)
	}
	if viaProxy.Load() != 3 {
		t.Errorf("the proxy was asked %d times, want 3", viaProxy.Load())
	}
}

// A-LLM-9: nothing listens, and a name that does not exist.
func TestNoServer(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	_, err := client(t, s.URL, nil).Do(t.Context(), Call{Path: "x"})
	e := wantKind(t, err, llm.KindNetwork)
	if !e.Retryable() || !strings.Contains(e.Message, strings.TrimPrefix(s.URL, "http://")) || !strings.Contains(e.Message, "refused") {
		t.Errorf("error %q", e.Error())
	}
	if e.Advice != llm.AdviceBrief || !strings.Contains(e.Error(), "start the server") {
		t.Errorf("error %q, advice %v: a server of this machine that is not running is worth no long wait", e.Error(), e.Advice)
	}
}

// A-LLM-9: the first byte has a limit, each silence has another, and the caller's own pauses have none.
func TestSilences(t *testing.T) {
	t.Parallel()
	paused := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/headers":
			w.(http.Flusher).Flush()
		case "/some", "/all":
			fmt.Fprint(w, "data: a\n\n")
			w.(http.Flusher).Flush()
			if r.URL.Path == "/all" {
				<-paused
			}
			fmt.Fprint(w, "data: b\n\n")
			w.(http.Flusher).Flush()
		}
		if r.URL.Path != "/all" {
			<-r.Context().Done()
		}
	})
	short := func(c *Config) { c.FirstByte, c.Idle = 60*time.Millisecond, 60*time.Millisecond }
	never := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	_, err := client(t, never.URL, short).Do(t.Context(), Call{Path: "never"})
	if e := wantKind(t, err, llm.KindTimeout); !e.Retryable() || !strings.Contains(e.Message, "60ms") {
		t.Errorf("error %q", e.Error())
	}
	for path, want := range map[string]int{"headers": 0, "some": 2} {
		n, err := count(t.Context(), client(t, s.URL, short), path, func() {})
		if e := wantKind(t, err, llm.KindTimeout); n != want || !e.Retryable() || !strings.Contains(e.Message, "stalled") {
			t.Errorf("%s: %d events, error %q", path, n, e.Error())
		}
	}
	slow := func() {
		<-time.After(200 * time.Millisecond) // longer than any silence may be
		select {
		case paused <- struct{}{}:
		default:
		}
	}
	if n, err := count(t.Context(), client(t, s.URL, func(c *Config) { c.Idle = 150 * time.Millisecond }), "all", slow); n != 2 || err != nil {
		t.Errorf("a slow reader got %d events, error %v", n, err)
	}
}

// count reads the events of a path and does something after each.
func count(ctx context.Context, c *Client, path string, after func()) (n int, err error) {
	a, err := c.Do(ctx, Call{Path: path})
	if err != nil {
		return 0, err
	}
	defer a.Close()
	for _, err := range a.Events() {
		if err != nil {
			return n, err
		}
		n++
		after()
	}
	return n, nil
}

// A finished answer leaves its connection for the next request; a closed one does not leave it open.
func TestConnections(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{}, 1)
	first := make(chan struct{})
	var opened atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "data: a\n\n")
		w.(http.Flusher).Flush()
		if r.URL.Path == "/endless" {
			<-r.Context().Done()
			gone <- struct{}{}
			return
		}
		<-first
		fmt.Fprint(w, "data: rest\n\n")
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	c := client(t, s.URL, nil)
	c.drain = time.Minute // however busy the machine
	for range 3 {
		a, err := c.Do(t.Context(), Call{Path: "x"})
		if err != nil {
			t.Fatal(err)
		}
		for range a.Events() {
			break
		}
		first <- struct{}{}
		a.Finish()
	}
	if opened.Load() != 1 {
		t.Errorf("three finished answers took %d connections", opened.Load())
	}
	a, err := c.Do(t.Context(), Call{Path: "endless"})
	if err != nil {
		t.Fatal(err)
	}
	for range a.Events() {
		break
	}
	a.Close()
	select {
	case <-gone:
	case <-time.After(5 * time.Second):
		t.Error("the server never saw the connection close")
	}
}

// P-GUARD-8: a secret prints as nothing, however it is printed.
func TestSecretsDoNotPrint(t *testing.T) {
	t.Parallel()
	c := Credential{Key: "k-secret", Token: "t-secret"}
	for _, text := range []string{fmt.Sprint(c), fmt.Sprintf("%v %+v %#v %s %q %x", c, c, c, c.Key, c.Key, c.Token), encoded(t, c)} {
		if strings.Contains(text, "secret") || strings.Contains(text, "2d736563726574") {
			t.Errorf("%s", text)
		}
	}
}

// A-AUTH-2, A-AUTH-3: a key command that does not work is an auth error without its text; one that is canceled is canceled.
func TestCredentialSource(t *testing.T) {
	t.Parallel()
	c := client(t, "http://127.0.0.1:1", nil)
	broken := func(context.Context) (Credential, error) { return Credential{}, errors.New("k-secret leaked") }
	_, err := c.Credential(t.Context(), broken)
	if e := wantKind(t, err, llm.KindAuth); e.Reason != llm.AuthSignedOut || strings.Contains(e.Error(), "secret") {
		t.Errorf("error %q, reason %s", e.Error(), e.Reason)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.Credential(ctx, broken)
	wantKind(t, err, llm.KindCanceled)
	own := &llm.Error{Kind: llm.KindAuth, Reason: llm.AuthNoWorkspace}
	if _, err = c.Credential(t.Context(), func(context.Context) (Credential, error) { return Credential{}, own }); err != own {
		t.Errorf("error %v, want the source's own", err)
	}
	if got, err := c.Credential(t.Context(), Fixed(Credential{Key: "a"})); err != nil || got.Key != "a" {
		t.Errorf("got %v, %v", string(got.Key), err)
	}
}
