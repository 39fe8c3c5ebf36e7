package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"car/internal/assistant/llm"
	"car/internal/assistant/project"
)

// server is a compatible server on loopback that lists models and notes what it was asked.
func server(t *testing.T, models ...string) (url string, seen func() []string) {
	t.Helper()
	var mu sync.Mutex
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		asked = append(asked, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")+" "+string(body))
		mu.Unlock()
		var list []string
		for _, m := range models {
			list = append(list, `{"id":"`+m+`"}`)
		}
		_, _ = io.WriteString(w, `{"object":"list","data":[`+strings.Join(list, ",")+`]}`)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string { mu.Lock(); defer mu.Unlock(); return asked }
}

// A-LLM-8: who chooses, in order.
func TestWhichModelIsChosen(t *testing.T) {
	t.Parallel()
	set := project.Settings{}
	set.Model.Name.V = "ollama/set"
	both := environment{keys: providerKeys{anthropicKey: "k", openaiKey: "k"}}
	for _, c := range []struct {
		name string
		m    *models
		want string
	}{
		{"the flag wins", &models{flag: "vllm/flag", settings: set, env: both}, "vllm/flag"},
		{"then a setting", &models{settings: set, env: both}, "ollama/set"},
		{"then a key", &models{env: both}, "anthropic"},
		{"a token is a key", &models{env: environment{keys: providerKeys{anthropicToken: "t"}}}, "anthropic"},
		{"the other key", &models{env: environment{keys: providerKeys{openaiKey: "k"}}}, "openai"},
		{"a server's address", &models{env: environment{keys: providerKeys{openaiURL: "http://127.0.0.1:9/v1"}}}, "openai"},
		{"nothing", &models{}, ""},
	} {
		if got, why := c.m.choice(); got != c.want || (why == "") != (c.want == "") {
			t.Errorf("%s: %q (%s), want %q and why", c.name, got, why, c.want)
		}
	}
}

// A-LLM-8: what a name means; a provider's own name may hold slashes.
func TestModelNamesAreTakenApart(t *testing.T) {
	t.Parallel()
	m := &models{settings: project.Settings{Providers: map[string]project.Provider{"gateway": {}}}}
	for spec, want := range map[string][2]string{
		"anthropic/claude-x":  {"anthropic", "claude-x"},
		"anthropic":           {"anthropic", ""},
		"openai/meta/llama-3": {"openai", "meta/llama-3"},
		"claude-sonnet-4-5":   {"anthropic", "claude-sonnet-4-5"},
		"gpt-5":               {"openai", "gpt-5"},
		"gateway/m":           {"gateway", "m"},
		"scripted:a/b.toml":   {"scripted", "a/b.toml"},
		"llama":               {"", "llama"},
		"nobody/llama":        {"", "nobody/llama"},
	} {
		if provider, model := m.split(spec); provider != want[0] || model != want[1] {
			t.Errorf("%q is %q and %q, want %q", spec, provider, model, want)
		}
	}
}

// D-34: a server that was found by looking is asked for its models and for nothing
// else, without any key; silent ports do not hold it up.
func TestProbingOnlyAsksForModels(t *testing.T) {
	t.Parallel()
	url, seen := server(t, "small", "large")
	began := time.Now()
	found := probe(t.Context(), []localServer{{Name: "ollama", URL: url + "/v1"}, {Name: "vllm", URL: "http://127.0.0.1:9/v1"}})
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("looking took %v", took)
	}
	if len(found) != 1 || found[0].Name != "ollama" || len(found[0].Models) != 2 {
		t.Errorf("found %+v, want the one that answers", found)
	}
	for _, request := range seen() {
		if !strings.HasPrefix(request, "GET /v1/models  ") {
			t.Errorf("the server was sent %q", request)
		}
	}
	screen := noProviderScreen([]string{"anthropic"}, found)
	if !strings.Contains(screen, "car do --model ollama/small") {
		t.Errorf("the screen does not offer the server:\n%s", screen)
	}
}

// A-LLM-6: a provider of the settings is asked with its own key, at its own host;
// a key that is not there is said by the name of its variable.
func TestAProviderOfTheSettingsIsUsed(t *testing.T) {
	t.Setenv("GATEWAY_TEST_KEY", "sk-test-AAAA1111BBBB2222")
	url, seen := server(t, "coder")
	own := project.Provider{Name: "gateway", Kind: "openai", BaseURL: url + "/v1", KeyEnv: "GATEWAY_TEST_KEY"}
	missing := project.Provider{Name: "other", Kind: "openai", BaseURL: url + "/v1", KeyEnv: "NO_SUCH_KEY_HERE"}
	p := &project.Project{Root: t.TempDir(), Settings: project.Settings{Providers: map[string]project.Provider{"gateway": own, "other": missing}}}
	p.Settings.Model.Name.V = "gateway/coder"
	var out, said bytes.Buffer
	a := &app{io: streams{err: &said}, now: time.Now}
	if err := a.listModels(t.Context(), p, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "gateway/coder\n") {
		t.Errorf("the list holds %q", out.String())
	}
	if asked := seen(); len(asked) != 1 || !strings.Contains(asked[0], "Bearer sk-test-AAAA1111BBBB2222") {
		t.Errorf("the gateway was asked %q", asked)
	}
	if strings.Contains(out.String()+said.String(), "sk-test") {
		t.Error("the key was shown")
	}
	_, err := (&models{settings: p.Settings, now: time.Now}).Named(t.Context(), "other/x")
	if err == nil || !strings.Contains(err.Error(), "NO_SUCH_KEY_HERE is not set") {
		t.Errorf("a missing key says %v", err)
	}
}

// A-LLM-12: money only where every price that is needed is known.
func TestPricesComeFromSettings(t *testing.T) {
	t.Parallel()
	in, out := 3.0, 15.0
	price := (&models{}).priceOf("own", "m", project.ModelFacts{InputUSD: &in, OutputUSD: &out}, llm.Cache5m)
	if micros, known := price(llm.Usage{Input: 1000, Output: 100}); !known || micros != 4500 {
		t.Errorf("1000 in and 100 out cost %d micros, %v; want 4500", micros, known)
	}
	if _, known := price(llm.Usage{Input: 1, CacheRead: 1}); known {
		t.Error("a bucket without a price has a cost")
	}
}
