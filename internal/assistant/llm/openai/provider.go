package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"car/internal/assistant/llm"
	"car/internal/assistant/llm/wire"
)

// Official is the base URL of OpenAI's own server.
const Official = "https://api.openai.com/v1"

// Config says which server, in which format and with which key.
type Config struct {
	// Name is the provider's configured name; empty is "openai".
	Name string
	API  API
	// Wire.BaseURL is empty for the official server and else includes the version,
	// as in http://localhost:11434/v1; Wire.Provider is set by New.
	Wire wire.Config
	// Credential is asked for each request and goes as Bearer; nil sends none.
	Credential wire.Source
	// AuthHeader carries the credential instead, such as api-key for Azure.
	AuthHeader string
}

// server is what an encoder has to know of where a request goes.
type server struct {
	name string
	// official servers know fields that others refuse.
	official bool
}

// Provider is one server. It is safe for concurrent use.
type Provider struct {
	server     server
	dialect    dialect
	client     *wire.Client
	credential wire.Source
	authHeader string
}

var (
	_ llm.Provider    = (*Provider)(nil)
	_ llm.ModelLister = (*Provider)(nil)
)

// New checks a Config. An error names the field.
func New(c Config) (*Provider, error) {
	if c.Name == "" {
		c.Name = "openai"
	}
	if c.Wire.BaseURL == "" {
		c.Wire.BaseURL = Official
	}
	c.Wire.Provider = c.Name
	client, err := wire.New(c.Wire)
	if err != nil {
		return nil, fmt.Errorf("provider %s: %w", c.Name, err)
	}
	official := client.Host() == "api.openai.com"
	if c.API == Auto {
		c.API = Chat
		if official {
			c.API = Responses
		}
	}
	dialect, known := dialects[c.API]
	if !known {
		return nil, fmt.Errorf("provider %s: api %s is not known", c.Name, c.API)
	}
	return &Provider{server: server{name: c.Name, official: official}, dialect: dialect, client: client,
		credential: c.Credential, authHeader: c.AuthHeader}, nil
}

// Name is the configured name.
func (p *Provider) Name() string { return p.server.name }

// Close drops idle connections.
func (p *Provider) Close() error {
	p.client.Close()
	return nil
}

// Stream sends one request (A-LLM-1).
func (p *Provider) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		body, err := p.dialect.encode(p.server, r)
		if err != nil {
			yield(nil, err)
			return
		}
		call, err := p.call(ctx, p.dialect.path)
		if err != nil {
			yield(nil, err)
			return
		}
		call.Body = body
		reader := p.dialect.reply(llm.Origin{Provider: p.server.name, Model: r.Model})
		p.client.Stream(ctx, call, reader, func(e llm.Event, err error) bool { return yield(e, hinted(err)) })
	}
}

// call is a request with everything but its body.
func (p *Provider) call(ctx context.Context, path string) (wire.Call, error) {
	credential, err := p.client.Credential(ctx, p.credential)
	if err != nil {
		return wire.Call{}, err
	}
	header, value := credential.Header("Authorization", p.authHeader)
	return wire.Call{Path: path, AuthHeader: header, Auth: value}, nil
}

// Models lists what the server serves, with the window where it tells (A-LLM-13, A-CTX-7).
func (p *Provider) Models(ctx context.Context) ([]llm.ModelInfo, error) {
	call, err := p.call(ctx, "models")
	if err != nil {
		return nil, err
	}
	a, err := p.client.Do(ctx, call)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	data, err := a.Document()
	if err != nil {
		return nil, err
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
			// vLLM, OpenRouter and LM Studio each have a name of their own.
			MaxModelLen      int64 `json:"max_model_len"`
			ContextLength    int64 `json:"context_length"`
			MaxContextLength int64 `json:"max_context_length"`
		} `json:"data"`
	}
	if err := json.Unmarshal(data, &list); err != nil || list.Data == nil {
		return nil, a.Malformed("the list of models is not the JSON it should be")
	}
	models := make([]llm.ModelInfo, 0, len(list.Data))
	for _, m := range list.Data {
		models = append(models, llm.ModelInfo{ID: m.ID, Window: max(m.MaxModelLen, m.ContextLength, m.MaxContextLength)})
	}
	return models, nil
}
