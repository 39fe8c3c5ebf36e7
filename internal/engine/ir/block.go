package ir

// BlockKind says how a screen may show a block; the zero value is plain text.
type BlockKind uint8

// The kinds. A screen renders kinds and knows no tool names.
const (
	BlockText BlockKind = iota
	BlockDiff
	BlockTable
	BlockFiles
	BlockExit
	BlockCommands
)

var blockKindLabels = []string{"text", "diff", "table", "files", "exit", "commands"}

// String returns the wire label.
func (k BlockKind) String() string { return labelOf(blockKindLabels, k) }

// MarshalText writes the wire label.
func (k BlockKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a wire label; an unknown one is an error.
func (k *BlockKind) UnmarshalText(b []byte) (err error) {
	*k, err = parseLabel[BlockKind]("block kind", blockKindLabels, string(b))
	return err
}

// Block is something a tool shows a person: a result or a preview. Text of a
// block is untrusted and is escaped at the edge of the terminal.
type Block struct {
	Kind BlockKind `json:"kind"`
	// Title is a path or a short heading.
	Title string `json:"title,omitempty"`
	// Text is the body of a text block or the unified diff of a diff block.
	Text string `json:"text,omitempty"`
	// Header and Rows belong to a table; Rows alone, one cell a row, to a file list.
	Header []string   `json:"header,omitempty"`
	Rows   [][]string `json:"rows,omitempty"`
	// Exit belongs to an exit block.
	Exit *ExitStatus `json:"exit,omitempty"`
	// Commands belongs to a commands block: the parsed commands of a shell text.
	Commands []CommandView `json:"commands,omitempty"`
	// Omitted counts bytes or rows that the block leaves out.
	Omitted int64 `json:"omitted,omitempty"`
}

// ExitStatus is how a process ended.
type ExitStatus struct {
	Code       int    `json:"code"`
	Signal     string `json:"signal,omitempty"`
	TimedOut   bool   `json:"timed_out,omitempty"`
	DurationMS int64  `json:"duration_ms"`
}

// CommandView is one simple command of a shell text as the governor read it.
type CommandView struct {
	Text          string        `json:"text"`
	Tier          Tier          `json:"tier"`
	Reversibility Reversibility `json:"reversibility"`
	Reason        string        `json:"reason,omitempty"`
}
