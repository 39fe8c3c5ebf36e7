package main

import (
	"regexp"
	"strings"

	"car/internal/assistant/llm"
	"car/internal/assistant/project"
)

// pricesDated is when the built-in prices were last compared with what the makers
// publish; a person is told it wherever money is shown (A-LLM-12, P-TRUE-6).
const pricesDated = "2025-11-01"

// listPrice is what a maker asks for a model, in US dollars a million tokens. A
// bucket of 0 has no price of its own: nothing is billed there, or nobody knows.
type listPrice struct {
	provider, model          string
	in, out, cached, written float64
	// upTo is the prompt in tokens from which on another price holds, which is not
	// here; 0 is none.
	upTo int64
}

// listPrices are those of the makers' own servers. What is not here is unknown, and
// then no money is counted.
var listPrices = []listPrice{
	{provider: "anthropic", model: "claude-opus-4-5", in: 5, out: 25, cached: 0.5, written: 6.25},
	{provider: "anthropic", model: "claude-opus-4-1", in: 15, out: 75, cached: 1.5, written: 18.75},
	{provider: "anthropic", model: "claude-opus-4", in: 15, out: 75, cached: 1.5, written: 18.75},
	{provider: "anthropic", model: "claude-sonnet-4-5", in: 3, out: 15, cached: 0.3, written: 3.75, upTo: 200_000},
	{provider: "anthropic", model: "claude-sonnet-4", in: 3, out: 15, cached: 0.3, written: 3.75, upTo: 200_000},
	{provider: "anthropic", model: "claude-haiku-4-5", in: 1, out: 5, cached: 0.1, written: 1.25},
	{provider: "anthropic", model: "claude-3-5-haiku", in: 0.8, out: 4, cached: 0.08, written: 1},
	{provider: "openai", model: "gpt-5", in: 1.25, out: 10, cached: 0.125},
	{provider: "openai", model: "gpt-5-mini", in: 0.25, out: 2, cached: 0.025},
	{provider: "openai", model: "gpt-5-nano", in: 0.05, out: 0.4, cached: 0.005},
	{provider: "openai", model: "gpt-4.1", in: 2, out: 8, cached: 0.5},
	{provider: "openai", model: "gpt-4.1-mini", in: 0.4, out: 1.6, cached: 0.1},
	{provider: "openai", model: "gpt-4.1-nano", in: 0.1, out: 0.4, cached: 0.025},
	{provider: "openai", model: "gpt-4o", in: 2.5, out: 10, cached: 1.25},
	{provider: "openai", model: "gpt-4o-mini", in: 0.15, out: 0.6, cached: 0.075},
	{provider: "openai", model: "o3", in: 2, out: 8, cached: 0.5},
	{provider: "openai", model: "o4-mini", in: 1.1, out: 4.4, cached: 0.275},
}

// modelDate is what makers add to a model's name for one of its releases.
var modelDate = regexp.MustCompile(`^-(?:\d{8}|\d{4}-\d{2}-\d{2})$`)

// listed finds the price of a model at its maker's own server. Only the model
// itself or a dated release of it counts: a name that merely begins alike is
// another model at another price.
func listed(provider, model string) (listPrice, bool) {
	for _, p := range listPrices {
		if rest, ok := strings.CutPrefix(model, p.model); ok && p.provider == provider && (rest == "" || modelDate.MatchString(rest)) {
			return p, true
		}
	}
	return listPrice{}, false
}

// official says that a provider's name stands for its maker's own server: neither
// settings nor the environment put another one in its place, whose prices are its own.
func (m *models) official(provider string) bool {
	if _, own := m.settings.Providers[provider]; own {
		return false
	}
	return provider == "anthropic" && m.env.keys.anthropicURL == "" || provider == "openai" && m.env.keys.openaiURL == ""
}

// priceOf is what usage of a model costs: by the person's own settings, and where
// they are silent by the built-in table. A bucket without a price makes the cost
// unknown (A-LLM-12).
func (m *models) priceOf(provider, model string, own project.ModelFacts, cache llm.Cache) func(llm.Usage) (int64, bool) {
	var list listPrice
	if m.official(provider) {
		list, _ = listed(provider, model)
	}
	if cache == llm.Cache1h && list.written > 0 {
		list.written = 2 * list.in // what is kept for an hour costs twice the plain prompt
	}
	return func(u llm.Usage) (int64, bool) {
		if list.upTo > 0 && u.Input+u.CacheRead+u.CacheWrite > list.upTo && own.InputUSD == nil {
			return 0, false
		}
		sum := 0.0
		for _, b := range []struct {
			tokens int64
			own    *float64
			list   float64
		}{{u.Input, own.InputUSD, list.in}, {u.Output, own.OutputUSD, list.out}, {u.CacheRead, own.CacheReadUSD, list.cached}, {u.CacheWrite, own.CacheWriteUSD, list.written}} {
			switch {
			case b.tokens == 0:
			case b.own != nil:
				sum += float64(b.tokens) * *b.own
			case b.list > 0:
				sum += float64(b.tokens) * b.list
			default:
				return 0, false
			}
		}
		return int64(sum + 0.5), true
	}
}
