package main

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"car/internal/assistant/llm"
	"car/internal/assistant/llm/anthropic"
	"car/internal/assistant/llm/openai"
	"car/internal/assistant/llm/wire"
)

// providerKind is a provider that can be named without any setting.
type providerKind struct {
	name string
	// families begin the bare names of models that can only be this provider's.
	families []string
	// model is the usual one at the official server.
	model string
	// local is the address of a server on this machine.
	local string
	make  func(m *models, k providerKind) (llm.Provider, error)
}

var providerKinds = []providerKind{
	{name: "anthropic", families: []string{"claude-"}, model: "claude-sonnet-4-5", make: makeAnthropic},
	{name: "openai", families: []string{"gpt-", "o1", "o3", "o4"}, model: "gpt-5", make: makeOpenAI},
	{name: "ollama", local: "http://127.0.0.1:11434/v1", make: makeLocal},
	{name: "lmstudio", local: "http://127.0.0.1:1234/v1", make: makeLocal},
	{name: "llamacpp", local: "http://127.0.0.1:8080/v1", make: makeLocal},
	{name: "vllm", local: "http://127.0.0.1:8000/v1", make: makeLocal},
}

func providerOf(name string) (providerKind, bool) {
	for _, k := range providerKinds {
		if k.name == name {
			return k, true
		}
	}
	return providerKind{}, false
}

// usual is the model to use when only the provider was named; another server than
// the official one may not have it.
func (k providerKind) usual(m *models) string {
	if k.name == "anthropic" && m.env.keys.anthropicURL != "" || k.name == "openai" && m.env.keys.openaiURL != "" {
		return ""
	}
	return k.model
}

// proxyRule says which proxy a request goes through, for providers and tools alike.
func proxyRule(r *http.Request) (*url.URL, error) { return http.ProxyFromEnvironment(r) }

func (m *models) wire(name, base string) wire.Config {
	return wire.Config{Provider: name, BaseURL: base, Proxy: proxyRule, Now: m.now}
}

func makeAnthropic(m *models, _ providerKind) (llm.Provider, error) {
	keys := m.env.keys
	if keys.anthropicKey == "" && keys.anthropicToken == "" {
		return nil, signedOut("anthropic", "ANTHROPIC_API_KEY is not set")
	}
	// A token outranks a key, because whoever set one means a gateway (D-40).
	credential := wire.Credential{Key: wire.Secret(keys.anthropicKey)}
	if keys.anthropicToken != "" {
		credential = wire.Credential{Token: wire.Secret(keys.anthropicToken)}
	}
	return anthropic.New(anthropic.Config{Wire: m.wire("anthropic", keys.anthropicURL), Credential: wire.Fixed(credential)})
}

func makeOpenAI(m *models, _ providerKind) (llm.Provider, error) {
	keys := m.env.keys
	if keys.openaiKey == "" && keys.openaiURL == "" {
		return nil, signedOut("openai", "OPENAI_API_KEY is not set")
	}
	c := openai.Config{Wire: m.wire("openai", keys.openaiURL)}
	if keys.openaiKey != "" {
		c.Credential = wire.Fixed(wire.Credential{Key: wire.Secret(keys.openaiKey)})
	}
	return openai.New(c)
}

func makeLocal(m *models, k providerKind) (llm.Provider, error) {
	c := m.wire(k.name, k.local)
	c.Proxy = nil // nothing stands between a machine and itself
	return openai.New(openai.Config{Name: k.name, Wire: c})
}

func signedOut(provider, why string) error {
	return &llm.Error{Kind: llm.KindAuth, Provider: provider, Reason: llm.AuthSignedOut, Message: why}
}

// localServer is a server on this machine that lists models.
type localServer struct {
	Name   string
	URL    string
	Models []string
}

// probeWait bounds the look at one port (A-LLM-8).
const probeWait = 300 * time.Millisecond

func localServers() []localServer {
	var list []localServer
	for _, k := range providerKinds {
		if k.local != "" {
			list = append(list, localServer{Name: k.name, URL: k.local})
		}
	}
	return list
}

// probe asks servers on this machine, all at once, which models they serve. It
// sends them nothing else.
func probe(ctx context.Context, servers []localServer) []localServer {
	ctx, cancel := context.WithTimeout(ctx, probeWait)
	defer cancel()
	var group sync.WaitGroup
	for i := range servers {
		group.Go(func() {
			p, err := openai.New(openai.Config{Name: servers[i].Name, Wire: wire.Config{BaseURL: servers[i].URL}})
			if err != nil {
				return
			}
			defer p.Close()
			list, err := p.Models(ctx)
			if err != nil {
				return
			}
			for _, info := range list {
				servers[i].Models = append(servers[i].Models, info.ID)
			}
		})
	}
	group.Wait()
	var answered []localServer
	for _, s := range servers {
		if len(s.Models) > 0 {
			answered = append(answered, s)
		}
	}
	return answered
}

// noProviderScreen says what to do when no model is configured (U-CLI-5).
func noProviderScreen(names []string, offers []localServer) string {
	var b strings.Builder
	b.WriteString("no model is configured; car needs one of these:\n\n" +
		"  ANTHROPIC_API_KEY=…   (or ANTHROPIC_AUTH_TOKEN; ANTHROPIC_BASE_URL for a gateway)\n" +
		"  OPENAI_API_KEY=…      (OPENAI_BASE_URL for any compatible server)\n" +
		"  --model PROVIDER/MODEL, with PROVIDER one of " + strings.Join(names, ", ") + "\n" +
		"  --model scripted:FILE plays a scenario; car do --demo shows one\n\n")
	if len(offers) == 0 {
		b.WriteString("no local server answered on the ports 11434 (ollama), 1234 (lmstudio), 8080 (llamacpp), 8000 (vllm)\n")
		return b.String()
	}
	b.WriteString("local servers that answered; nothing was sent to them but the question for their models:\n")
	for _, s := range offers {
		b.WriteString("  car do --model " + s.Name + "/" + s.Models[0] + " \"…\"\n")
	}
	return b.String()
}
