package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"car/internal/assistant"
	"car/internal/assistant/llm"
	"car/internal/assistant/llm/scripted"
	"car/internal/assistant/project"
)

// scriptedPrefix begins the name of a model that plays a scenario instead of
// asking anybody; scriptedName is its provider.
const (
	scriptedPrefix = "scripted:"
	scriptedName   = "scripted"
)

// models decides which model a run uses (A-LLM-8): what a person chose by flag,
// then by setting, then what the keys in the environment make, and at last
// nothing; a local server that was found by looking is offered, never used by
// itself (D-34). It is the assistant.Models of a session. Safe for concurrent use.
type models struct {
	env      environment
	settings project.Settings
	// flag is "provider/model", "scripted:FILE", a model's bare name, or empty.
	flag string
	// window overrides what is known of the context window, in tokens; 0 does not.
	window int64
	// scenario, where it is set, is the text of the scenario instead of its file.
	scenario []byte
	// root replaces {{cwd}} of scenarios.
	root string
	now  func() time.Time

	mu sync.Mutex
	// made keeps providers by name, since a scenario remembers its place.
	made map[string]llm.Provider
	// offers are the local servers that answered when nothing was chosen.
	offers []localServer
}

// choice is the text that names the model to use, and who chose it.
func (m *models) choice() (spec, why string) {
	keys := m.env.keys
	switch set := m.settings.Model.Name; {
	case m.flag != "":
		return m.flag, "chosen with --model"
	case set.V != "":
		return set.V, "set in " + set.From.String()
	case keys.anthropicKey != "" || keys.anthropicToken != "":
		return "anthropic", "the environment holds a key for it"
	case keys.openaiKey != "":
		return "openai", "the environment holds a key for it"
	case keys.openaiURL != "":
		return "openai", "OPENAI_BASE_URL names a server"
	}
	return "", ""
}

// Configured returns the model that is chosen and then its fallbacks. Without a
// choice it looks for local servers, so that they can be offered, and asks for a
// provider.
func (m *models) Configured(ctx context.Context) ([]assistant.Choice, error) {
	spec, _ := m.choice()
	if spec == "" {
		offers := probe(ctx, localServers())
		m.mu.Lock()
		m.offers = offers
		m.mu.Unlock()
		return nil, &llm.Error{Kind: llm.KindAuth, Reason: llm.AuthNoProvider, Message: "no model provider is configured"}
	}
	var choices []assistant.Choice
	for _, spec := range append([]string{spec}, m.settings.Model.Fallback.V...) {
		c, err := m.Named(ctx, spec)
		if err != nil {
			return nil, err
		}
		choices = append(choices, c)
	}
	return choices, nil
}

// check finds what is wrong with the choice before a session begins: a scenario
// that can not be read, a provider that is mis-stated. A key that is missing is
// not wrong with the choice; the run ends by asking for it.
func (m *models) check() error {
	if err := m.env.keys.check(); err != nil {
		return err
	}
	spec, _ := m.choice()
	for _, spec := range append([]string{spec}, m.settings.Model.Fallback.V...) {
		name, model := m.split(spec)
		if name == "" {
			if spec == "" {
				continue
			}
			return usageError(m.unserved(spec), "car models")
		}
		var missing *llm.Error
		var coded *exitError
		switch _, err := m.provider(name, model); {
		case err == nil || errors.As(err, &missing):
		case errors.As(err, &coded):
			return err
		default: // an address that is none
			return usageError(err)
		}
	}
	return nil
}

// offered are the local servers that answered.
func (m *models) offered() []localServer {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.offers
}

// Named finds the model that a text names.
func (m *models) Named(ctx context.Context, spec string) (assistant.Choice, error) {
	name, model := m.split(spec)
	if name == "" {
		return assistant.Choice{}, m.unserved(spec)
	}
	p, err := m.provider(name, model)
	if err != nil {
		return assistant.Choice{}, err
	}
	if name == scriptedName {
		model = strings.TrimSuffix(filepath.Base(model), ".toml")
	}
	if model == "" {
		if model, err = m.defaultModel(ctx, name, p); err != nil {
			return assistant.Choice{}, err
		}
	}
	return m.describe(assistant.Choice{Provider: p, Model: model}, name)
}

// unserved is a model that no provider is known for.
func (m *models) unserved(spec string) error {
	return &llm.Error{Kind: llm.KindModelNotFound, Message: fmt.Sprintf("nobody knows which provider serves %q", spec),
		Hint: "name it as provider/model; providers are " + strings.Join(m.providerNames(), ", ")}
}

// split takes a text apart into a provider and the provider's own name of a model,
// which may hold slashes. Bare names of well-known families find their maker.
func (m *models) split(spec string) (provider, model string) {
	if file, ok := strings.CutPrefix(spec, scriptedPrefix); ok {
		return scriptedName, file
	}
	head, rest, slash := strings.Cut(spec, "/")
	if _, own := m.settings.Providers[head]; own {
		return head, rest
	}
	if _, known := providerOf(head); known {
		return head, rest
	}
	if slash {
		return "", spec
	}
	for _, k := range providerKinds {
		for _, family := range k.families {
			if strings.HasPrefix(spec, family) {
				return k.name, spec
			}
		}
	}
	return "", spec
}

// describe adds what the settings say of a model.
func (m *models) describe(c assistant.Choice, provider string) (assistant.Choice, error) {
	set := m.settings.Model
	facts := m.settings.Providers[provider].Models[c.Model]
	c.Cache = llm.Cache5m
	for text, into := range map[string]interface{ UnmarshalText([]byte) error }{set.Cache.V: &c.Cache, set.Effort.V: &c.Effort} {
		if text == "" {
			continue
		}
		if err := into.UnmarshalText([]byte(text)); err != nil {
			return c, usageError(err)
		}
	}
	c.Window = firstSet(m.window, facts.Window, set.Window.V)
	c.MaxTokens = firstSet(facts.MaxTokens, set.MaxTokens.V)
	c.NoVision = facts.NoVision
	c.Price = m.priceOf(provider, c.Model, facts, c.Cache)
	return c, nil
}

// provider makes the provider of a name once.
func (m *models) provider(name, model string) (llm.Provider, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := name
	if name == scriptedName {
		key = scriptedPrefix + model
	}
	if p, ok := m.made[key]; ok {
		return p, nil
	}
	p, err := m.make(name, model)
	if err != nil {
		return nil, err
	}
	if m.made == nil {
		m.made = map[string]llm.Provider{}
	}
	m.made[key] = p
	return p, nil
}

func (m *models) make(name, model string) (llm.Provider, error) {
	if name == scriptedName {
		return m.script(model)
	}
	if own, ok := m.settings.Providers[name]; ok {
		return m.makeOwn(own)
	}
	kind, _ := providerOf(name)
	return kind.make(m, kind)
}

// script reads a scenario; a broken one is the person's to mend, not a failed inference.
func (m *models) script(file string) (llm.Provider, error) {
	text := m.scenario
	if text == nil {
		path := file
		if !filepath.IsAbs(path) {
			path = filepath.Join(m.env.cwd, file)
		}
		var err error
		if text, err = os.ReadFile(path); err != nil {
			return nil, usageError(fmt.Errorf("--model %s%s: %w", scriptedPrefix, file, err))
		}
	}
	p, err := scripted.New(scripted.Config{File: file, Data: text, CWD: m.root})
	if err != nil {
		return nil, usageError(err)
	}
	return p, nil
}

// defaultModel is the model of a provider that was chosen without one: the
// provider's usual one, or the first that the server lists.
func (m *models) defaultModel(ctx context.Context, name string, p llm.Provider) (string, error) {
	kind, _ := providerOf(name)
	if usual := kind.usual(m); usual != "" {
		return usual, nil
	}
	lister, ok := p.(llm.ModelLister)
	if !ok {
		return "", &llm.Error{Kind: llm.KindModelNotFound, Provider: name, Message: "no model was named", Hint: "--model " + name + "/MODEL"}
	}
	list, err := lister.Models(ctx)
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", &llm.Error{Kind: llm.KindModelNotFound, Provider: name, Message: "the server lists no model", Hint: "load one there, or --model " + name + "/MODEL"}
	}
	return list[0].ID, nil
}

// firstSet is the first number that says something.
func firstSet[T int | int64](numbers ...T) T {
	for _, n := range numbers {
		if n != 0 {
			return n
		}
	}
	return 0
}
