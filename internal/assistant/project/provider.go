package project

import (
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	envName    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	envUse     = regexp.MustCompile(`\$\{([^}]*)\}`)
	headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
	hostPort   = regexp.MustCompile(`^(\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z_.-]+)(:[0-9]{1,5})?$`)
	providerID = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]*$`)
)

// The bounds of approval.timeout (A-APPR-9).
const (
	minApproval = 10 * time.Second
	maxApproval = 24 * time.Hour
)

func isScripted(model string) bool { return strings.HasPrefix(model, "scripted:") }

// validate checks what a value means, beyond its type, and makes paths and header
// values ready for use.
func (l *layer) validate(c Config) []error {
	v := validator{checker: checker{file: l.file.Path, lines: l.lines}, config: c}
	v.tools(&l.config.Tools)
	v.model(l.config.Model)
	if t := l.config.Approval.Timeout; t != nil && (time.Duration(*t) < minApproval || time.Duration(*t) > maxApproval) {
		v.bad("approval.timeout", "", "must be between 10s and 24h")
	}
	for _, name := range slices.Sorted(maps.Keys(l.config.Provider)) {
		p := l.config.Provider[name]
		v.provider(join("provider", name), name, &p, l.personal())
		l.config.Provider[name] = p
	}
	return v.errs
}

type validator struct {
	checker
	config Config
}

func (v *validator) tools(t *toolsTable) {
	for i, p := range t.ReadRoots {
		t.ReadRoots[i] = v.absolute(fmt.Sprintf("tools.read_roots[%d]", i), p)
	}
	for i, name := range t.EnvPass {
		if !envName.MatchString(name) {
			v.bad(fmt.Sprintf("tools.env_pass[%d]", i), "", "%q is not the name of a variable", name)
		}
	}
	for i, h := range t.AllowHosts {
		if !hostPort.MatchString(h) {
			v.bad(fmt.Sprintf("tools.allow_hosts[%d]", i), "write host or host:port", "%q is not a host", h)
		}
	}
	if t.CAFile != nil {
		*t.CAFile = v.absolute("tools.ca_file", *t.CAFile)
	}
	if s := t.Search; s != nil {
		v.search(s)
	}
}

func (v *validator) search(s *searchTable) {
	if s.Backend == "" {
		v.bad("tools.search", "", "needs backend, one of %s", strings.Join(backendWords, ", "))
	}
	if s.Backend == "searxng" && s.URL == "" {
		v.bad("tools.search", "", "needs url for searxng")
	}
	v.address("tools.search.url", s.URL)
	v.variable("tools.search.key_env", s.KeyEnv)
}

func (v *validator) model(m modelTable) {
	if m.Name != nil {
		v.modelName("model.name", *m.Name)
	}
	if m.Fallback != nil {
		for i, name := range *m.Fallback {
			v.modelName(fmt.Sprintf("model.fallback[%d]", i), name)
		}
	}
	if m.MaxTokens != nil && *m.MaxTokens <= 0 {
		v.bad("model.max_tokens", "", "must be above zero")
	}
	if m.Window != nil && *m.Window <= 0 {
		v.bad("model.window", "", "must be above zero")
	}
}

func (v *validator) modelName(key, name string) {
	provider, model, ok := strings.Cut(name, "/")
	if isScripted(name) && name != "scripted:" || ok && provider != "" && model != "" && strings.TrimSpace(name) == name {
		return
	}
	v.bad(key, "", "%q is not provider/model or scripted:FILE", name)
}

func (v *validator) provider(key, name string, p *providerFile, personal bool) {
	if !providerID.MatchString(name) {
		v.bad(key, "", "%q is no name for a provider: use letters, digits, - and _", name)
	}
	if p.Kind == nil {
		v.bad(key, "", "needs kind, one of %s", strings.Join(kindWords, ", "))
	}
	v.address(key+".base_url", p.BaseURL)
	v.variable(key+".key_env", p.KeyEnv)
	v.variable(key+".token_env", p.TokenEnv)
	given := 0
	for _, set := range []bool{p.KeyEnv != "", p.TokenEnv != "", len(p.KeyCommand) > 0} {
		if set {
			given++
		}
	}
	if given > 1 {
		v.bad(key, "", "takes one of key_env, token_env and key_command")
	}
	if p.KeyCommand != nil && (len(p.KeyCommand) == 0 || p.KeyCommand[0] == "") {
		v.bad(key+".key_command", "", "names no program")
	}
	if p.AuthHeader != "" && !headerName.MatchString(p.AuthHeader) {
		v.bad(key+".auth_header", "", "%q is not the name of a header", p.AuthHeader)
	}
	if p.CAFile != "" {
		p.CAFile = v.absolute(key+".ca_file", p.CAFile)
	}
	v.headers(key+".headers", p.Headers, personal)
	v.models(key+".models", p.Models)
}

// headers puts variables into the values of a person's own file; a project's file
// reads no environment (A-LLM-13).
func (v *validator) headers(key string, headers map[string]string, personal bool) {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		at := join(key, name)
		if !headerName.MatchString(name) {
			v.bad(at, "", "%q is not the name of a header", name)
		}
		if !personal {
			continue
		}
		headers[name] = envUse.ReplaceAllStringFunc(headers[name], func(use string) string {
			value, ok := "", false
			if v.config.Env != nil {
				value, ok = v.config.Env(use[2 : len(use)-1])
			}
			if !ok {
				v.bad(at, "export it, or take it out", "the variable %s is not set", use)
			}
			return value
		})
		if strings.ContainsAny(headers[name], "\r\n\x00") {
			v.bad(at, "", "a header's value is one line")
		}
	}
}

func (v *validator) models(key string, models map[string]modelFile) {
	for _, name := range slices.Sorted(maps.Keys(models)) {
		m, at := models[name], join(key, name)
		if m.Window < 0 || m.MaxTokens < 0 {
			v.bad(at, "", "window and max_tokens must not be below zero")
		}
		for price, usd := range map[string]*float64{"input_usd": m.Input, "output_usd": m.Output, "cache_read_usd": m.CacheRead, "cache_write_usd": m.CacheWrite} {
			if usd != nil && !(*usd >= 0 && *usd < 1e6) {
				v.bad(at+"."+price, "", "is no price in US dollars a million tokens")
			}
		}
	}
}

func (v *validator) address(key, text string) {
	if text == "" {
		return
	}
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		// The text may hold a secret and is not shown.
		v.bad(key, "write http://HOST/PATH or https://HOST/PATH", "is not an address")
	case u.User != nil, u.Fragment != "", u.RawQuery != "":
		v.bad(key, "a key goes into a variable that key_env names", "must hold neither user, query nor fragment")
	}
}

func (v *validator) variable(key, name string) {
	if name != "" && !envName.MatchString(name) {
		v.bad(key, "it takes the name, never the value", "is not the name of a variable")
	}
}

// absolute undoes ~/ and refuses relative paths: they would mean another folder
// for each working directory.
func (v *validator) absolute(key, path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && v.config.Home != "" {
		path = filepath.Join(v.config.Home, rest)
	}
	if !filepath.IsAbs(path) {
		v.bad(key, "", "%q is not an absolute path nor one below ~/", path)
	}
	return filepath.Clean(path)
}

// providers defines providers. A project's waits for trust, never replaces the
// person's own, and neither starts a program nor reads the environment (A-LLM-8, P-GUARD-5).
func (m *merger) providers(l layer) {
	for _, name := range slices.Sorted(maps.Keys(l.config.Provider)) {
		p, key := l.config.Provider[name], join("provider", name)
		if !m.mayWiden(l, key, m.set.Providers[name].From) {
			continue
		}
		if !l.personal() && (len(p.KeyCommand) > 0 || readsEnvironment(p.Headers)) {
			m.ignore(l, key, "key_command and ${…} count in the person's own config.toml only")
			continue
		}
		m.set.Providers[name] = Provider{
			Name: name, Kind: string(*p.Kind), BaseURL: p.BaseURL, KeyEnv: p.KeyEnv, TokenEnv: p.TokenEnv, KeyCommand: p.KeyCommand,
			AuthHeader: p.AuthHeader, Headers: p.Headers, CAFile: p.CAFile, Models: facts(p.Models), From: l.source(key),
		}
	}
}

func readsEnvironment(headers map[string]string) bool {
	for _, v := range headers {
		if envUse.MatchString(v) {
			return true
		}
	}
	return false
}

func facts(models map[string]modelFile) map[string]ModelFacts {
	out := make(map[string]ModelFacts, len(models))
	for name, m := range models {
		out[name] = ModelFacts{Window: m.Window, MaxTokens: m.MaxTokens, InputUSD: m.Input, OutputUSD: m.Output, CacheReadUSD: m.CacheRead, CacheWriteUSD: m.CacheWrite,
			NoVision: m.Vision != nil && !*m.Vision}
	}
	return out
}
