package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"

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
	credential, err := credentialOf(p)
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
	return made, nil
}

// credentialOf is where a provider's key comes from; a provider without one is
// asked without one. The key goes to this provider's host and nowhere else.
func credentialOf(p project.Provider) (wire.Source, error) {
	switch {
	case len(p.KeyCommand) > 0:
		return keyCommand(p.KeyCommand), nil
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

// keyCommand runs the person's own program that prints a key, once. Only their own
// settings file can name one.
func keyCommand(argv []string) wire.Source {
	var mu sync.Mutex
	var key wire.Secret
	return func(ctx context.Context) (wire.Credential, error) {
		mu.Lock()
		defer mu.Unlock()
		if key == "" {
			out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).Output()
			if err != nil {
				return wire.Credential{}, err
			}
			if key = wire.Secret(strings.TrimSpace(string(out))); key == "" {
				return wire.Credential{}, errors.New("key_command printed nothing")
			}
		}
		return wire.Credential{Key: key}, nil
	}
}

// providerNames are the names that --model takes before the slash.
func (m *models) providerNames() []string {
	names := slices.Sorted(maps.Keys(m.settings.Providers))
	for _, k := range providerKinds {
		names = append(names, k.name)
	}
	return names
}
