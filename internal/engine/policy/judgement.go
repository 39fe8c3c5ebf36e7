package policy

import "car/internal/engine/ir"

// Judgement is what policy says of one action, with everything a person, a log
// and `car policy explain` need to see why. It never holds a secret value nor
// the text that a rule matched (G-POL-3).
type Judgement struct {
	// Verdict is after rules, built-in policy, posture and granted tier. Ask with
	// nobody to ask is a refusal; that is the caller's to know.
	Verdict Verdict
	// Tier is the least authority the action needs, independent of what was granted.
	Tier ir.Tier
	// Reversibility says whether the effect can be taken back, independent of Tier.
	Reversibility ir.Reversibility
	// Violations are all rules that deny the action, not only the first (G-POL-4).
	Violations []Violation
	// Reasons say what decided, strictest first.
	Reasons []Reason
	// Commands are the parsed simple commands of a shell text.
	Commands []ir.CommandView
	// Targets are the paths that the action would change, as resolved from the root.
	Targets []string
	// Hosts are the hosts that the action would contact, where known.
	Hosts []string
	// Network is true when the action may reach a network, known host or not.
	Network bool
	// AskAlways is true when a rule or the kind of loss demands a question that no
	// standing tier covers.
	AskAlways bool
	// Runs are the words of each parsed command, as written but for its program's name.
	Runs [][]string
	// Programs are the parsed commands by their names in the program table.
	Programs []Program
	// Reads are the places whose content the action would read, links followed.
	Reads []Read
	// Deletes says that the action removes files, or work that is not kept elsewhere.
	Deletes bool
	// Undecided says that a part cannot be told before it runs: what is listed here
	// may not be all.
	Undecided bool
}

// Violation is a rule that denies an action.
type Violation struct {
	// PolicyName is the rule's name: "deny_tool:deploy", "command:git push".
	PolicyName string      `json:"policy_name"`
	ActionID   ir.ActionID `json:"action_id"`
	Reason     string      `json:"reason"`
	// File and Line say where the rule is written; empty for built-in rules.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// Reason is one thing that spoke for a verdict.
type Reason struct {
	Verdict Verdict
	// Text says what the action would do, without secret values.
	Text string
	// Rule names the rule or built-in that spoke.
	Rule string
	// File and Line say where the rule is written; empty for built-in rules.
	File string
	Line int
	// WayOut is a lawful way to the same end; may be empty.
	WayOut string
}

// Message is the refusal or question in at most three lines: what, which rule,
// and a lawful way out.
func (j Judgement) Message() string {
	if len(j.Reasons) == 0 {
		return j.Verdict.String()
	}
	r := j.Reasons[0]
	text := r.Text
	if r.Rule != "" {
		text += " (rule " + r.Rule
		if r.File != "" {
			text += ", " + location(r.File, r.Line)
		}
		text += ")"
	}
	if r.WayOut != "" {
		text += "\n" + r.WayOut
	}
	return text
}
