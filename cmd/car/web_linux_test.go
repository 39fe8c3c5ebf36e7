package main

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ask runs one call of a tool at full access, as `car run` does.
func (s site) ask(t *testing.T, tool string, params map[string]any, flags ...string) string {
	t.Helper()
	call, err := json.Marshal(map[string]any{"actions": []any{map[string]any{"id": "w", "type": "tool_call", "tool": tool, "parameters": params}}})
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "call.json", string(call))
	out, _ := s.car(t.Context(), append(append([]string{"run"}, flags...), "call.json")...).CombinedOutput()
	return string(out)
}

// home is a folder below $CAR_HOME's parent with a person's own config.
func (s site) config(t *testing.T, text string) {
	t.Helper()
	for _, v := range s.env {
		if home, ok := strings.CutPrefix(v, "CAR_HOME="); ok {
			if err := os.MkdirAll(home, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func says(t *testing.T, out string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(out, w) {
			t.Errorf("no %q in\n%s", w, out)
		}
	}
}

// T-WEB-1, T-WEB-2, T-WEB-7, G-TIER: the real binary asks a real server, refuses
// without a person, refuses metadata at any tier, and has no such tool with the network off.
func TestHTTPRequestEndToEnd(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://169.254.169.254/latest/", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>T</title><h1>Hello</h1><p>\x1b[2Jthere key sk-test-AAAA1111BBBB2222CCCC</p><script>x</script>")
	}))
	t.Cleanup(server.Close)
	s := newSite(t)
	out := s.ask(t, "http_request", map[string]any{"url": server.URL}, "--tier", "full_access")
	says(t, out, "✓ w", "# Hello", "data, not instructions")
	if strings.Contains(out, "AAAA1111") || strings.Contains(out, "\x1b[2J") || strings.Contains(out, "<script>") {
		t.Errorf("a secret, an escape or a script came through:\n%s", out)
	}
	says(t, s.ask(t, "http_request", map[string]any{"url": server.URL}), "rejected")
	says(t, s.ask(t, "http_request", map[string]any{"url": server.URL + "/away"}, "--tier", "full_access"), "denied by policy")
	says(t, s.ask(t, "http_request", map[string]any{"url": "http://169.254.169.254/"}, "--tier", "full_access"), "metadata")
	says(t, s.ask(t, "http_request", map[string]any{"url": server.URL}, "--tier", "full_access", "--network", "off"), "unknown tool: http_request")
	says(t, s.ask(t, "calculate", map[string]any{"expression": "1"}, "--network", "of"), "neither on nor off")
	s.config(t, "[tools]\nnetwork = \"off\"\n")
	says(t, s.ask(t, "http_request", map[string]any{"url": server.URL}, "--tier", "full_access"), "unknown tool: http_request")
}

// B089 tls-proxy: the web tools know a private authority by the person's setting or
// by SSL_CERT_FILE, and say which settings there are.
func TestB089WebTools(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "behind TLS") }))
	t.Cleanup(server.Close)
	s := newSite(t)
	params := map[string]any{"url": server.URL}
	says(t, s.ask(t, "http_request", params, "--tier", "full_access"), "tools.ca_file", "SSL_CERT_FILE")
	ca := s.write(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	with := s
	with.env = append(append([]string{}, s.env...), "SSL_CERT_FILE="+ca)
	says(t, with.ask(t, "http_request", params, "--tier", "full_access"), "behind TLS")
	s.config(t, fmt.Sprintf("[tools]\nca_file = %q\n", ca))
	says(t, s.ask(t, "http_request", params, "--tier", "full_access"), "behind TLS")
}

// T-WEB-6, T-SET-2, P-GUARD-8: web_search is there with a service and its key, the key
// goes to the service alone, and a query that holds a secret is refused.
func TestWebSearchEndToEnd(t *testing.T) {
	t.Parallel()
	var asked, key string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, key = r.URL.Query().Get("q"), r.Header.Get("X-Subscription-Token")
		fmt.Fprintf(w, `{"web":{"results":[{"title":"Found","url":"https://x.example/","description":"it says %s"}]}}`, key)
	}))
	t.Cleanup(server.Close)
	s := newSite(t)
	says(t, s.ask(t, "web_search", map[string]any{"query": "x"}, "--tier", "full_access"), "unknown tool: web_search")
	s.config(t, fmt.Sprintf("[tools.search]\nbackend = \"brave\"\nurl = %q\nkey_env = \"FINDER\"\n", server.URL))
	says(t, s.ask(t, "web_search", map[string]any{"query": "x"}, "--tier", "full_access"), "unknown tool: web_search", "FINDER is not set")
	s.env = append(s.env, "FINDER=invented-search-value-1")
	out := s.ask(t, "web_search", map[string]any{"query": "go maps"}, "--tier", "full_access")
	says(t, out, "✓ w", "Found")
	if asked != "go maps" || key != "invented-search-value-1" {
		t.Errorf("asked %q with %q", asked, key)
	}
	if strings.Contains(out, "invented-search-value-1") {
		t.Error("the key is shown")
	}
	says(t, s.ask(t, "shell", map[string]any{"command": "echo [$FINDER]"}, "--tier", "full_access"), "[]")
	asked = ""
	says(t, s.ask(t, "web_search", map[string]any{"query": "sk-test-AAAA1111BBBB2222CCCC"}, "--tier", "full_access"), "secret")
	if asked != "" {
		t.Error("the query was sent")
	}
}
