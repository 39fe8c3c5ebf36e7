package claim

// Effect is the most a call could do to the world. The zero value is the worst.
type Effect uint8

// The effects, from worst to best.
const (
	Outward Effect = iota
	Write
	Read
)

// String returns the stored label.
func (e Effect) String() string {
	switch e {
	case Write:
		return "write"
	case Read:
		return "read"
	default:
		return "outward"
	}
}

// MarshalText writes the stored label.
func (e Effect) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads a stored label; an unknown one is the worst.
func (e *Effect) UnmarshalText(b []byte) error {
	*e = Outward
	for _, known := range []Effect{Write, Read} {
		if known.String() == string(b) {
			*e = known
		}
	}
	return nil
}

// Receipt is what is known of one call that was answered, from the engine's
// result and nothing else (A-CLAIM-1).
type Receipt struct {
	CallID string `json:"call_id"`
	Tool   string `json:"tool"`
	// OK is success with exit code 0, where there is one.
	OK bool `json:"ok"`
	// Ran is false for a call that was refused, skipped or never started.
	Ran    bool   `json:"ran"`
	Status string `json:"status"`
	Effect Effect `json:"effect"`
	// Brief is the argument that matters: a command, a path, a URL.
	Brief string `json:"brief"`
	// Commands are the words of the simple commands of a shell text, in order.
	Commands [][]string `json:"commands,omitempty"`
	// Masked is true when the exit code may be that of another command of the
	// text: in a pipeline, after "||" or ";".
	Masked   bool `json:"masked,omitempty"`
	ExitCode *int `json:"exit_code,omitempty"`
	// Changed are the paths whose content the call changed, relative to the root.
	Changed []string `json:"changed,omitempty"`
	// Excerpt is the end of the output.
	Excerpt string `json:"excerpt,omitempty"`
	// GoalCheck marks the run of a goal's own check.
	GoalCheck bool `json:"goal_check,omitempty"`
}

// class is what kinds of work a command does; one command may do several.
type class uint16

const (
	classTest class = 1 << iota
	classBuild
	classCommit
	classPush
	classStatus
	classDeploy
	classCI
	classHealth
	classSend
	// classEdit changes files of the working tree by its nature.
	classEdit
)

// verifying commands may write caches and binaries, but nobody calls that a change.
const verifying = classTest | classBuild | classCommit | classPush | classStatus | classCI | classHealth

func (r Receipt) classes() class {
	var all class
	for _, words := range r.Commands {
		all |= classOf(words)
	}
	if r.GoalCheck {
		all |= classTest
	}
	return all
}

// mayEdit reports a shell text that may have changed files nobody told us of.
func (r Receipt) mayEdit() bool {
	if r.Effect == Read || len(r.Changed) > 0 || r.GoalCheck {
		return false
	}
	for _, words := range r.Commands {
		if c := classOf(words); c&verifying == 0 || c&classEdit != 0 {
			return true
		}
	}
	return len(r.Commands) == 0
}
