package intent

import (
	"fmt"
	"strings"

	"car/internal/engine/verify/match"
)

// Capability is a kind of effect that an intent can rule out (G-INTENT-1).
type Capability uint8

// The capabilities. The zero value is unset.
const (
	CapabilityUnset Capability = iota
	Network
	Delete
	Credential
	Publish
	Deploy
	Install
	GitPush
	OutsideRoot
)

var capabilityLabels = []string{Network: "network", Delete: "delete", Credential: "credential", Publish: "publish",
	Deploy: "deploy", Install: "install", GitPush: "git_push", OutsideRoot: "outside_root"}

// String returns the wire label.
func (c Capability) String() string { return word(capabilityLabels, int(c)) }

// MarshalText writes the wire label.
func (c Capability) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a wire label; an unknown one is an error.
func (c *Capability) UnmarshalText(b []byte) error {
	i, err := parse("capability", capabilityLabels, string(b))
	*c = Capability(i)
	return err
}

// Spec is what an agent is for. An absent list (nil) asks nothing; an empty one
// allows nothing.
type Spec struct {
	Goal                  string       `json:"goal"`
	AllowedTools          []string     `json:"allowed_tools"`
	AllowedPaths          []string     `json:"allowed_paths"`
	AllowedHosts          []string     `json:"allowed_hosts"`
	AllowedCommands       []string     `json:"allowed_commands"`
	ForbiddenCapabilities []Capability `json:"forbidden_capabilities"`
}

// Validate reports a pattern that means nothing, with its key.
func (s Spec) Validate() error {
	for i, glob := range s.AllowedPaths {
		if err := match.CheckPath(glob); err != nil {
			return fmt.Errorf("allowed_paths[%d]: %w", i, err)
		}
	}
	for i, host := range s.AllowedHosts {
		if err := match.CheckHost(host); err != nil {
			return fmt.Errorf("allowed_hosts[%d]: %w", i, err)
		}
	}
	for i, run := range s.AllowedCommands {
		if strings.TrimSpace(run) == "" {
			return fmt.Errorf("allowed_commands[%d]: the command is empty", i)
		}
	}
	for i, tool := range s.AllowedTools {
		if tool == "" {
			return fmt.Errorf("allowed_tools[%d]: the tool is empty", i)
		}
	}
	return nil
}

// Disposition is what a gate does about drift that nothing untrusted influenced.
// The zero value blocks.
type Disposition uint8

// The dispositions, from the strictest.
const (
	Block Disposition = iota
	RequireApproval
	Allow
)

var dispositionLabels = []string{"block", "require_approval", "allow"}

// String returns the wire label.
func (d Disposition) String() string {
	if int(d) < len(dispositionLabels) {
		return dispositionLabels[d]
	}
	return fmt.Sprintf("unknown(%d)", uint8(d))
}

// MarshalText writes the wire label.
func (d Disposition) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads a wire label; an unknown one is an error.
func (d *Disposition) UnmarshalText(b []byte) error {
	i, err := parse("disposition", dispositionLabels, string(b))
	*d = Disposition(i)
	return err
}

func word(table []string, i int) string {
	switch {
	case i == 0:
		return "unset"
	case i > 0 && i < len(table):
		return table[i]
	}
	return fmt.Sprintf("unknown(%d)", i)
}

func parse(kind string, table []string, text string) (int, error) {
	for i, label := range table {
		if label != "" && label == text {
			return i, nil
		}
	}
	return 0, fmt.Errorf("unknown %s %q (one of %s)", kind, text, strings.TrimPrefix(strings.Join(table, ", "), ", "))
}
