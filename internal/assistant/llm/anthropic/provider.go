package anthropic

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"car/internal/assistant/llm"
	"car/internal/assistant/llm/wire"
)

// Official is the base URL of Anthropic's own server.
const Official = "https://api.anthropic.com"

// The numbers of this package.
const (
	version = "2023-06-01"
	// defaultMaxTokens is sent where a request names none: the API insists on a number.
	defaultMaxTokens = 8192
)

// Config says which server and with which key.
type Config struct {
	// Name is the provider's configured name; empty is "anthropic".
	Name string
	// Wire.BaseURL is empty for the official server; Wire.Provider is set by New.
	Wire wire.Config
	// Credential is asked for each request: a Key goes as x-api-key, a Token as Bearer (D-40).
	Credential wire.Source
	// AuthHeader carries the credential instead, where a gateway wants its own.
	AuthHeader string
}

// Provider is one server. It is safe for concurrent use.
type Provider struct {
	name       string
	client     *wire.Client
	credential wire.Source
	authHeader string
	root       string
}

var (
	_ llm.Provider    = (*Provider)(nil)
	_ llm.ModelLister = (*Provider)(nil)
)

// New checks a Config. An error names the field.
func New(c Config) (*Provider, error) {
	if c.Name == "" {
		c.Name = "anthropic"
	}
	if c.Wire.BaseURL == "" {
		c.Wire.BaseURL = Official
	}
	c.Wire.Provider = c.Name
	client, err := wire.New(c.Wire)
	if err != nil {
		return nil, fmt.Errorf("provider %s: %w", c.Name, err)
	}
	root := "v1/"
	if strings.HasSuffix(strings.TrimRight(c.Wire.BaseURL, "/"), "/v1") {
		root = ""
	}
	return &Provider{name: c.Name, client: client, credential: c.Credential, authHeader: c.AuthHeader, root: root}, nil
}

// Name is the configured name.
func (p *Provider) Name() string { return p.name }

// Close drops idle connections.
func (p *Provider) Close() error {
	p.client.Close()
	return nil
}

// Stream sends one request (A-LLM-1).
func (p *Provider) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		body, err := encode(p.name, r)
		if err != nil {
			yield(nil, err)
			return
		}
		call, err := p.call(ctx, "messages")
		if err != nil {
			yield(nil, err)
			return
		}
		call.Body = body
		reader := newReply(llm.Origin{Provider: p.name, Model: r.Model})
		p.client.Stream(ctx, call, reader, func(e llm.Event, err error) bool { return yield(e, hinted(err, r.Effort)) })
	}
}

// call is a request with everything but its body.
func (p *Provider) call(ctx context.Context, path string) (wire.Call, error) {
	credential, err := p.client.Credential(ctx, p.credential)
	if err != nil {
		return wire.Call{}, err
	}
	header, value := credential.Header("X-Api-Key", p.authHeader)
	return wire.Call{Path: p.root + path, Header: map[string]string{"anthropic-version": version}, AuthHeader: header, Auth: value}, nil
}

// Models lists what the server serves (A-LLM-13).
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
			ID     string `json:"id"`
			Window int64  `json:"max_input_tokens"`
		} `json:"data"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, a.Malformed("the list of models is not the JSON it should be")
	}
	models := make([]llm.ModelInfo, 0, len(list.Data))
	for _, m := range list.Data {
		models = append(models, llm.ModelInfo{ID: m.ID, Window: m.Window})
	}
	return models, nil
}
