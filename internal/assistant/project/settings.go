package project

import (
	"fmt"
	"time"

	"car/internal/engine/ir"
	"car/internal/engine/policy"
)

// Source is where a value came from. The zero value is the default.
type Source struct {
	// File is absolute.
	File string
	Line int
	// Personal says that the file is the person's own.
	Personal bool
}

// String reads FILE:LINE, or default.
func (s Source) String() string {
	if s.File == "" {
		return "default"
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}

// Value is a setting that remembers where it came from.
type Value[T any] struct {
	V    T
	From Source
}

// Values is a list of settings, each from somewhere.
type Values []Value[string]

// Strings are the settings alone.
func (v Values) Strings() []string {
	out := make([]string, len(v))
	for i, one := range v {
		out[i] = one.V
	}
	return out
}

// Settings are the settings in force, before flags.
type Settings struct {
	Posture Value[policy.Posture]
	// Tier is the standing tier; unset is none (G-TIER-4).
	Tier      Value[ir.Tier]
	Model     Model
	Providers map[string]Provider
	Tools     Tools
	// ApprovalTimeout is how long a question waits; 0 is the conversation's default (A-APPR-9).
	ApprovalTimeout Value[time.Duration]
	Claims          Value[Claims]
	LoopWatch       Value[bool]
}

// Model is which model is used and how (A-LLM-8).
type Model struct {
	// Name is provider/model or scripted:FILE; empty is no choice.
	Name     Value[string]
	Fallback Value[[]string]
	// Effort and Cache are words of the llm room; empty is its default.
	Effort Value[string]
	Cache  Value[string]
	// MaxTokens and Window are in tokens; 0 is unknown.
	MaxTokens Value[int]
	Window    Value[int64]
}

// Tools are the settings of tools (T-SHELL-15).
type Tools struct {
	ReadOutside Value[policy.Verdict]
	// ReadRoots are absolute.
	ReadRoots  Values
	EnvPass    Values
	AllowHosts Values
	// CAFile is a PEM file of authorities that web tools and MCP trust besides the system's; absolute.
	CAFile  Value[string]
	Network Value[bool]
	Caches  Value[Caches]
	Sandbox Value[Sandbox]
	Search  Value[Search]
}

// Search is where web_search asks; the zero value is nowhere.
type Search struct {
	Backend string
	URL     string
	// KeyEnv names the variable that holds the key.
	KeyEnv string
}

// Provider is a source of inference that a file defines (A-LLM-5, A-LLM-6).
type Provider struct {
	Name string
	// Kind is "anthropic" or "openai".
	Kind    string
	BaseURL string
	// KeyEnv, TokenEnv and KeyCommand are where the credential comes from; at most one is set.
	KeyEnv     string
	TokenEnv   string
	KeyCommand []string
	AuthHeader string
	// Headers are ready to send; their values count as secrets.
	Headers map[string]string
	CAFile  string
	Models  map[string]ModelFacts
	From    Source
}

// ModelFacts is what a person knows better than the built-in table.
type ModelFacts struct {
	// Window and MaxTokens are in tokens; 0 is unknown.
	Window    int64
	MaxTokens int
	// The prices are US dollars a million tokens; nil is unknown.
	InputUSD, OutputUSD, CacheReadUSD, CacheWriteUSD *float64
	// NoVision says that the model takes no pictures.
	NoVision bool
}

// Ignored is a key of a project's file that does not count, and why (G-TRUST-1).
type Ignored struct {
	File string
	Line int
	Key  string
	Why  string
	// Waits says that `car trust` would put it in force.
	Waits bool
}

// Why a key is ignored.
const (
	whyTrust    = "widens access and waits for `car trust`"
	whyOuter    = "stands in a project around this one, of which only prohibitions count"
	whyStricter = "would loosen what another file says"
)

// defaults are the settings of nobody.
func defaults() Settings {
	return Settings{
		Posture:   Value[policy.Posture]{V: policy.Balanced},
		Providers: map[string]Provider{},
		Tools:     Tools{ReadOutside: Value[policy.Verdict]{V: policy.Ask}, Network: Value[bool]{V: true}},
		LoopWatch: Value[bool]{V: true},
	}
}

// layer is one config.toml and what it may do.
type layer struct {
	file   *File
	lines  map[string]int
	config configFile
}

func (l layer) personal() bool { return l.file.Root == "" }

func (l layer) source(key string) Source {
	return Source{File: l.file.Path, Line: l.lines[key], Personal: l.personal()}
}

// merger puts layers on top of each other: the person's file first, then projects
// from the outermost to the root's.
type merger struct {
	set     Settings
	ignored []Ignored
}

func (m *merger) ignore(l layer, key, why string) {
	m.ignored = append(m.ignored, Ignored{File: l.file.Path, Line: l.lines[key], Key: key, Why: why, Waits: why == whyTrust})
}

// mayWiden says whether a layer may widen a setting that stands at from. The
// person's own file says what it likes; a trusted project widens defaults only.
func (m *merger) mayWiden(l layer, key string, from Source) bool {
	switch {
	case l.personal():
		return true
	case l.file.Outer:
		m.ignore(l, key, whyOuter)
	case !l.file.Trusted:
		m.ignore(l, key, whyTrust)
	case from.File != "":
		m.ignore(l, key, whyStricter)
	default:
		return true
	}
	return false
}

// ranked sets a value whose freedom can be compared: less is always taken, more
// only from who may widen.
func ranked[T comparable](m *merger, l layer, key string, current *Value[T], next *T, freedom func(T) int) {
	if next == nil {
		return
	}
	more := freedom(*next) > freedom(current.V)
	if more && !m.mayWiden(l, key, current.From) {
		return
	}
	if *next == current.V && current.From.File != "" {
		return
	}
	*current = Value[T]{V: *next, From: l.source(key)}
}

// neutral sets a value that neither widens nor tightens; the nearest file wins, a
// project around this one does not count.
func neutral[T any](m *merger, l layer, key string, current *Value[T], next *T) {
	switch {
	case next == nil:
	case l.file.Outer:
		m.ignore(l, key, whyOuter)
	default:
		*current = Value[T]{V: *next, From: l.source(key)}
	}
}

// widening adds to a list of permissions.
func widening(m *merger, l layer, key string, list *Values, more []string) {
	if len(more) == 0 || !m.mayWiden(l, key, Source{}) {
		return
	}
	for i, v := range more {
		*list = append(*list, Value[string]{V: v, From: l.source(fmt.Sprintf("%s[%d]", key, i))})
	}
}

// merge adds one layer.
func (m *merger) merge(l layer) {
	s, c := &m.set, l.config
	ranked(m, l, "posture", &s.Posture, c.Posture, func(p policy.Posture) int { return int(p) })
	ranked(m, l, "tier", &s.Tier, c.Tier, tierRank)
	ranked(m, l, "tools.read_outside", &s.Tools.ReadOutside, c.Tools.ReadOutside, func(v policy.Verdict) int { return int(v) })
	ranked(m, l, "tools.network", &s.Tools.Network, (*bool)(c.Tools.Network), boolRank)
	ranked(m, l, "tools.caches", &s.Tools.Caches, c.Tools.Caches, func(c Caches) int { return -int(c) })
	ranked(m, l, "tools.sandbox", &s.Tools.Sandbox, c.Tools.Sandbox, func(b Sandbox) int { return -int(b) })
	ranked(m, l, "guards.claims", &s.Claims, c.Guards.Claims, func(c Claims) int { return int(c) })
	ranked(m, l, "guards.loop_watch", &s.LoopWatch, c.Guards.LoopWatch, func(on bool) int { return -boolRank(on) })
	widening(m, l, "tools.read_roots", &s.Tools.ReadRoots, c.Tools.ReadRoots)
	widening(m, l, "tools.env_pass", &s.Tools.EnvPass, c.Tools.EnvPass)
	widening(m, l, "tools.allow_hosts", &s.Tools.AllowHosts, c.Tools.AllowHosts)
	if c.Tools.CAFile != nil && m.mayWiden(l, "tools.ca_file", s.Tools.CAFile.From) {
		s.Tools.CAFile = Value[string]{V: *c.Tools.CAFile, From: l.source("tools.ca_file")}
	}
	neutral(m, l, "approval.timeout", &s.ApprovalTimeout, (*time.Duration)(c.Approval.Timeout))
	if c.Tools.Search != nil && m.mayWiden(l, "tools.search", s.Tools.Search.From) {
		s.Tools.Search = Value[Search]{V: Search{string(c.Tools.Search.Backend), c.Tools.Search.URL, c.Tools.Search.KeyEnv}, From: l.source("tools.search")}
	}
	m.model(l)
	m.providers(l)
}

// tierRank puts read_only below no tier at all: it takes rights away (P-GUARD-4).
func tierRank(t ir.Tier) int {
	if t == ir.ReadOnly {
		return -1
	}
	return int(t)
}

func boolRank(on bool) int {
	if on {
		return 1
	}
	return 0
}

// model settings choose among what the person has; a script that plays a model is
// a project's own words and waits for trust.
func (m *merger) model(l layer) {
	s, c := &m.set.Model, l.config.Model
	if c.Name != nil && isScripted(*c.Name) && !m.mayWiden(l, "model.name", Source{}) {
		c.Name = nil
	}
	neutral(m, l, "model.name", &s.Name, c.Name)
	neutral(m, l, "model.fallback", &s.Fallback, c.Fallback)
	neutral(m, l, "model.effort", &s.Effort, (*string)(c.Effort))
	neutral(m, l, "model.cache", &s.Cache, (*string)(c.Cache))
	neutral(m, l, "model.max_tokens", &s.MaxTokens, c.MaxTokens)
	neutral(m, l, "model.window", &s.Window, c.Window)
}
