package main

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"car/internal/assistant/llm"
	"car/internal/assistant/llm/anthropic"
	"car/internal/assistant/llm/openai"
	"car/internal/assistant/llm/wire"
	"car/internal/assistant/project"
)

// makeOwn makes a provider that a settings file defines.
func (m *models) makeOwn(p project.Provider) (llm.Provider, error) {
	c := m.wire(p.Name, p.BaseURL)
	c.Headers, c.CAFile = p.Headers, p.CAFile
	var key *commandKey
	credential, err := credentialOf(p)
	if len(p.KeyCommand) > 0 {
		key = &commandKey{argv: p.KeyCommand}
		credential = key.source
	}
	if err != nil {
		return nil, err
	}
	var made llm.Provider
	if p.Kind == "anthropic" {
		made, err = anthropic.New(anthropic.Config{Name: p.Name, Wire: c, Credential: credential, AuthHeader: p.AuthHeader})
	} else {
		made, err = openai.New(openai.Config{Name: p.Name, Wire: c, Credential: credential, AuthHeader: p.AuthHeader})
	}
	if err != nil {
		return nil, usageError(fmt.Errorf("%s: %w", p.From, err))
	}
	if key != nil {
		return refreshing{made, key}, nil
	}
	return made, nil
}

// credentialOf is where a provider's key comes from; a provider without one is
// asked without one. The key goes to this provider's host and nowhere else.
func credentialOf(p project.Provider) (wire.Source, error) {
	switch {
	case p.KeyEnv != "":
		key := os.Getenv(p.KeyEnv)
		if key == "" {
			return nil, signedOut(p.Name, p.KeyEnv+" is not set")
		}
		return wire.Fixed(wire.Credential{Key: wire.Secret(key)}), nil
	case p.TokenEnv != "":
		token := os.Getenv(p.TokenEnv)
		if token == "" {
			return nil, signedOut(p.Name, p.TokenEnv+" is not set")
		}
		return wire.Fixed(wire.Credential{Token: wire.Secret(token)}), nil
	}
	return nil, nil
}

// providerNames are the names that --model takes before the slash.
func (m *models) providerNames() []string {
	names := slices.Sorted(maps.Keys(m.settings.Providers))
	for _, k := range providerKinds {
		names = append(names, k.name)
	}
	return names
}
