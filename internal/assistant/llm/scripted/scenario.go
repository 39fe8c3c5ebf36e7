package scripted

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"car/internal/assistant/llm"
)

type scenario struct {
	Version int    `toml:"version"`
	Loop    bool   `toml:"loop"`
	Turns   []turn `toml:"turn"`
}

type turn struct {
	Expect   *expect `toml:"expect"`
	Thinking string  `toml:"thinking"`
	Text     string  `toml:"text"`
	// Chunk is the characters of one delta.
	Chunk   int    `toml:"chunk"`
	DelayMS int64  `toml:"delay_ms"`
	Calls   []call `toml:"call"`
	Usage   *usage `toml:"usage"`
	Fault   *fault `toml:"fault"`
}

// expect is what a request has to hold for the turn to be played.
type expect struct {
	// Contains is looked for in the newest words of the user.
	Contains string `toml:"contains"`
	// Tools must all be offered.
	Tools []string `toml:"tools"`
	// LastResultContains is looked for in the newest result of a tool.
	LastResultContains string `toml:"last_result_contains"`
}

type call struct {
	ID      string         `toml:"id"`
	Name    string         `toml:"name"`
	Args    map[string]any `toml:"args"`
	ArgsRaw *string        `toml:"args_raw"`
	// text is the arguments as they are streamed.
	text string
}

type usage struct {
	Input      int64 `toml:"input"`
	Output     int64 `toml:"output"`
	CacheRead  int64 `toml:"cache_read"`
	CacheWrite int64 `toml:"cache_write"`
	Reasoning  int64 `toml:"reasoning"`
}

type fault struct {
	Kind       string          `toml:"kind"`
	Times      int             `toml:"times"`
	Status     int             `toml:"status"`
	RetryAfter int             `toml:"retry_after"`
	Body       string          `toml:"body"`
	AfterChars *int            `toml:"after_chars"`
	MS         int64           `toml:"ms"`
	Type       string          `toml:"type"`
	Reason     *llm.AuthReason `toml:"reason"`
}

// faults are the kinds with the keys that each may have besides kind and times.
var faults = map[string][]string{
	"http": {"status", "retry_after", "body"}, "disconnect": {"after_chars"}, "stall": {"ms", "after_chars"},
	"error_event": {"type", "after_chars"}, "auth": {"reason"}, "length": nil, "empty": nil, "no_stop": nil,
}

const defaultChunk = 16

// parse reads a scenario strictly. An error names file, line and key.
func parse(name string, data []byte) (scenario, error) {
	var s scenario
	meta, err := toml.Decode(string(data), &s)
	if err != nil {
		var p toml.ParseError
		if errors.As(err, &p) {
			return s, fmt.Errorf("%s:%d:%d: %s", name, p.Position.Line, p.Position.Col, strings.TrimPrefix(p.Message, "toml: "))
		}
		return s, fmt.Errorf("%s: %s", name, strings.TrimPrefix(err.Error(), "toml: ")) // a wrong type: it names line and key
	}
	for _, key := range meta.Undecoded() {
		if !free(key) {
			return s, fmt.Errorf("%s:%d: unknown key %q", name, lineOf(data, key), key)
		}
	}
	if s.Version != 1 {
		return s, fmt.Errorf("%s: version = %d; this program reads version = 1", name, s.Version)
	}
	if len(s.Turns) == 0 {
		return s, fmt.Errorf("%s: no [[turn]]", name)
	}
	for i := range s.Turns {
		if err := s.Turns[i].check(); err != nil {
			return s, fmt.Errorf("%s: turn %d: %w", name, i+1, err)
		}
	}
	return s, nil
}

// free reports a key below args, where every key is the tool's own.
func free(key toml.Key) bool {
	return len(key) > 3 && key[0] == "turn" && key[1] == "call" && key[2] == "args"
}

// lineOf finds the line of an unknown key: the decoder tells its name, not its
// place. The place is the one where another name changes what the decoder tells.
func lineOf(data []byte, key toml.Key) int {
	const probe = "unknown_key_probe"
	text, last := string(data), key[len(key)-1]
	renamed := append(slices.Clone(key[:len(key)-1]), probe).String()
	for at := 0; ; at += len(last) {
		next := strings.Index(text[at:], last)
		if next < 0 {
			return 1
		}
		at += next
		var s scenario
		meta, err := toml.Decode(text[:at]+probe+text[at+len(last):], &s)
		if err != nil {
			continue
		}
		for _, k := range meta.Undecoded() {
			if k.String() == renamed {
				return 1 + strings.Count(text[:at], "\n")
			}
		}
	}
}

func (t *turn) check() error {
	if t.Chunk == 0 {
		t.Chunk = defaultChunk
	}
	if t.Chunk < 0 || t.DelayMS < 0 {
		return errors.New("chunk and delay_ms cannot be negative")
	}
	for i := range t.Calls {
		if err := t.Calls[i].check(); err != nil {
			return fmt.Errorf("call %d: %w", i+1, err)
		}
	}
	if u := t.Usage; u != nil && min(u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning) < 0 {
		return errors.New("usage cannot be negative")
	}
	if t.Fault == nil {
		return nil
	}
	if err := t.Fault.check(); err != nil {
		return fmt.Errorf("fault: %w", err)
	}
	return nil
}

func (c *call) check() error {
	switch {
	case c.Name == "":
		return errors.New("name is missing")
	case c.Args != nil && c.ArgsRaw != nil:
		return errors.New("args and args_raw exclude each other")
	case c.ArgsRaw != nil:
		c.text = *c.ArgsRaw
		return nil
	}
	if c.Args == nil {
		c.Args = map[string]any{}
	}
	if path, ok := dated(c.Args); ok {
		return fmt.Errorf("args.%s is a date, which JSON does not have; write a string", path)
	}
	text, err := json.Marshal(c.Args)
	c.text = string(text)
	return err
}

// dated finds a TOML date, for which JSON has no word.
func dated(v any) (string, bool) {
	switch v := v.(type) {
	case time.Time:
		return "", true
	case map[string]any:
		for name, item := range v {
			if path, ok := dated(item); ok {
				return strings.TrimSuffix(name+"."+path, "."), true
			}
		}
	case []any:
		for i, item := range v {
			if path, ok := dated(item); ok {
				return strings.TrimSuffix(fmt.Sprintf("%d.%s", i, path), "."), true
			}
		}
	case []map[string]any:
		for i, item := range v {
			if path, ok := dated(item); ok {
				return fmt.Sprintf("%d.%s", i, path), true
			}
		}
	}
	return "", false
}

func (f *fault) check() error {
	allowed, known := faults[f.Kind]
	if !known {
		kinds := make([]string, 0, len(faults))
		for kind := range faults {
			kinds = append(kinds, kind)
		}
		slices.Sort(kinds)
		return fmt.Errorf("unknown kind %q (one of %s)", f.Kind, strings.Join(kinds, ", "))
	}
	for key, set := range map[string]bool{"status": f.Status != 0, "retry_after": f.RetryAfter != 0, "body": f.Body != "",
		"after_chars": f.AfterChars != nil, "ms": f.MS != 0, "type": f.Type != "", "reason": f.Reason != nil} {
		if set && !slices.Contains(allowed, key) {
			return fmt.Errorf("%s is no key of kind %q", key, f.Kind)
		}
	}
	if f.Times == 0 {
		f.Times = 1
	}
	switch {
	case f.Times < 0 || f.RetryAfter < 0 || f.AfterChars != nil && *f.AfterChars < 0 || f.MS < 0:
		return errors.New("numbers cannot be negative")
	case f.Kind == "http" && (f.Status < 400 || f.Status > 599):
		return fmt.Errorf("status = %d; an HTTP error is 400 to 599", f.Status)
	case f.Kind == "auth" && f.Reason == nil:
		return errors.New("reason is missing")
	case f.Kind == "error_event" && f.Type == "":
		return errors.New("type is missing")
	}
	return nil
}
