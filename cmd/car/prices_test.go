package main

import (
	"testing"

	"car/internal/assistant/llm"
	"car/internal/assistant/project"
)

// A-LLM-12, P-TRUE-6: list prices hold for the models they name at their makers' own
// servers, bucket by bucket, and everything else is unknown, never guessed.
func TestListPrices(t *testing.T) {
	t.Parallel()
	million := llm.Usage{Input: 1_000_000}
	own := 7.0
	gateway := &models{}
	gateway.env.keys.anthropicURL = "https://gateway.example"
	redefined := &models{settings: project.Settings{Providers: map[string]project.Provider{"openai": {}}}}
	for name, c := range map[string]struct {
		m               *models
		provider, model string
		facts           project.ModelFacts
		cache           llm.Cache
		use             llm.Usage
		micros          int64
		known           bool
	}{
		"plain":                {provider: "anthropic", model: "claude-haiku-4-5", use: million, micros: 1_000_000, known: true},
		"dated release":        {provider: "anthropic", model: "claude-haiku-4-5-20251001", use: million, micros: 1_000_000, known: true},
		"dated, dashes":        {provider: "openai", model: "gpt-5-mini-2025-08-07", use: million, micros: 250_000, known: true},
		"cached":               {provider: "anthropic", model: "claude-sonnet-4-5", use: llm.Usage{CacheRead: 100_000, CacheWrite: 1000, Output: 10}, micros: 33_900, known: true},
		"kept for an hour":     {provider: "anthropic", model: "claude-sonnet-4-5", cache: llm.Cache1h, use: llm.Usage{CacheWrite: 1000}, micros: 6000, known: true},
		"a longer prompt":      {provider: "anthropic", model: "claude-sonnet-4-5", use: llm.Usage{Input: 1, CacheRead: 200_000}},
		"begins alike":         {provider: "openai", model: "gpt-5-codex", use: million},
		"a model of tomorrow":  {provider: "anthropic", model: "claude-opus-9", use: million},
		"another maker's":      {provider: "openai", model: "claude-haiku-4-5", use: million},
		"through a gateway":    {m: gateway, provider: "anthropic", model: "claude-haiku-4-5", use: million},
		"a redefined provider": {m: redefined, provider: "openai", model: "gpt-5", use: million},
		"own price first":      {provider: "openai", model: "gpt-5", facts: project.ModelFacts{InputUSD: &own}, use: million, micros: 7_000_000, known: true},
		"nothing was used":     {provider: "nobody", model: "x", micros: 0, known: true},
	} {
		m := c.m
		if m == nil {
			m = &models{}
		}
		if c.cache == llm.CacheOff {
			c.cache = llm.Cache5m
		}
		micros, known := m.priceOf(c.provider, c.model, c.facts, c.cache)(c.use)
		if micros != c.micros || known != c.known {
			t.Errorf("%s: %d micros, known %v; want %d, %v", name, micros, known, c.micros, c.known)
		}
	}
}
