package project

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"car/internal/engine/ir"
	"car/internal/engine/policy"
)

// configFile is config.toml, of a project and of a person alike. A pointer tells
// what is not written from what is.
type configFile struct {
	Posture  *policy.Posture         `toml:"posture"`
	Tier     *ir.Tier                `toml:"tier"`
	Model    modelTable              `toml:"model"`
	Provider map[string]providerFile `toml:"provider"`
	Tools    toolsTable              `toml:"tools"`
	Approval approvalTable           `toml:"approval"`
	Guards   guardsTable             `toml:"guards"`
}

type modelTable struct {
	Name      *string   `toml:"name"`
	Fallback  *[]string `toml:"fallback"`
	Effort    *effort   `toml:"effort"`
	Cache     *cache    `toml:"cache"`
	MaxTokens *int      `toml:"max_tokens"`
	Window    *int64    `toml:"window"`
}

type providerFile struct {
	Kind       *kind                `toml:"kind"`
	BaseURL    string               `toml:"base_url"`
	KeyEnv     string               `toml:"key_env"`
	TokenEnv   string               `toml:"token_env"`
	KeyCommand []string             `toml:"key_command"`
	AuthHeader string               `toml:"auth_header"`
	Headers    map[string]string    `toml:"headers"`
	CAFile     string               `toml:"ca_file"`
	Models     map[string]modelFile `toml:"models"`
}

type modelFile struct {
	Window     int64    `toml:"window"`
	MaxTokens  int      `toml:"max_tokens"`
	Input      *float64 `toml:"input_usd"`
	Output     *float64 `toml:"output_usd"`
	CacheRead  *float64 `toml:"cache_read_usd"`
	CacheWrite *float64 `toml:"cache_write_usd"`
	Vision     *bool    `toml:"vision"`
}

type toolsTable struct {
	ReadOutside *policy.Verdict `toml:"read_outside"`
	ReadRoots   []string        `toml:"read_roots"`
	EnvPass     []string        `toml:"env_pass"`
	Network     *onOff          `toml:"network"`
	Caches      *Caches         `toml:"caches"`
	Sandbox     *Sandbox        `toml:"sandbox"`
	AllowHosts  []string        `toml:"allow_hosts"`
	CAFile      *string         `toml:"ca_file"`
	Search      *searchTable    `toml:"search"`
}

type searchTable struct {
	Backend backend `toml:"backend"`
	URL     string  `toml:"url"`
	KeyEnv  string  `toml:"key_env"`
}

type approvalTable struct {
	Timeout *duration `toml:"timeout"`
}

type guardsTable struct {
	Claims    *Claims `toml:"claims"`
	LoopWatch *bool   `toml:"loop_watch"`
}

// word reads one of a few words into its place in the list.
func word(text []byte, words []string) (int, error) {
	if i := slices.Index(words, string(text)); i >= 0 {
		return i, nil
	}
	err := fmt.Errorf("%q is none of %s", text, strings.Join(words, ", "))
	if near := nearest(string(text), words); near != "" {
		err = fmt.Errorf("%w; is %q meant?", err, near)
	}
	return 0, err
}

// Caches says whose build caches confined commands write (D-35).
type Caches uint8

// The caches: the person's own, or some of the session's.
const (
	CachesShared Caches = iota
	CachesPrivate
)

var cachesWords = []string{"shared", "private"}

// String returns the word of the file.
func (c Caches) String() string { return cachesWords[c] }

// UnmarshalText reads the word; another is an error.
func (c *Caches) UnmarshalText(b []byte) error {
	i, err := word(b, cachesWords)
	*c = Caches(i)
	return err
}

// Sandbox says what happens where the system cannot confine commands (D-5).
type Sandbox uint8

// The modes: the best there is, or refuse to run with less than confinement.
const (
	SandboxAuto Sandbox = iota
	SandboxRequired
)

var sandboxWords = []string{"auto", "required"}

// String returns the word of the file.
func (s Sandbox) String() string { return sandboxWords[s] }

// UnmarshalText reads the word; another is an error.
func (s *Sandbox) UnmarshalText(b []byte) error {
	i, err := word(b, sandboxWords)
	*s = Sandbox(i)
	return err
}

// Claims says what is done about claims that no receipt supports (A-CLAIM-6).
type Claims uint8

// The modes, from strictest to freest.
const (
	ClaimsRedrive Claims = iota
	ClaimsAnnotate
	ClaimsOff
)

var claimsWords = []string{"redrive", "annotate", "off"}

// String returns the word of the file.
func (c Claims) String() string { return claimsWords[c] }

// UnmarshalText reads the word; another is an error.
func (c *Claims) UnmarshalText(b []byte) error {
	i, err := word(b, claimsWords)
	*c = Claims(i)
	return err
}

// The words that other rooms own are kept as words; their lists here are held to
// those rooms' by a test.
type (
	effort  string
	cache   string
	kind    string
	backend string
	onOff   bool
)

var (
	effortWords  = []string{"default", "off", "low", "medium", "high", "max"}
	cacheWords   = []string{"off", "5m", "1h"}
	kindWords    = []string{"anthropic", "openai"}
	backendWords = []string{"searxng", "brave", "tavily", "none"}
)

func (e *effort) UnmarshalText(b []byte) error {
	_, err := word(b, effortWords)
	*e = effort(b)
	return err
}

func (c *cache) UnmarshalText(b []byte) error {
	_, err := word(b, cacheWords)
	*c = cache(b)
	return err
}

func (k *kind) UnmarshalText(b []byte) error {
	_, err := word(b, kindWords)
	*k = kind(b)
	return err
}

func (s *backend) UnmarshalText(b []byte) error {
	_, err := word(b, backendWords)
	*s = backend(b)
	return err
}

func (o *onOff) UnmarshalText(b []byte) error {
	i, err := word(b, []string{"off", "on"})
	*o = i == 1
	return err
}

// duration is text such as "300s" or "5m".
type duration time.Duration

func (d *duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil {
		return fmt.Errorf("%q is no duration such as \"300s\" or \"5m\"", b)
	}
	*d = duration(v)
	return nil
}
