package admit

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/policy"
)

// sessionRule is what "for this session" may cover beyond the identical call
// (A-APPR-12): a file tool below a folder, or commands that begin with certain words.
// The runtime makes it and shows it; nobody types one. It stands below policy: it
// answers no other question than those that were open when it was given.
type sessionRule struct {
	Tool   string `json:"tool"`
	Folder string `json:"folder,omitempty"`
	// Argv are leading words; every command of a line has to have one of them.
	Argv [][]string `json:"argv,omitempty"`
	// Tier bounds what is covered, and Why are the rules that asked.
	Tier string   `json:"tier"`
	Why  []string `json:"why"`
}

// ruleClasses are the kinds of programs whose leading words say what they do. What
// runs code of its arguments, installs, publishes, deletes or talks to others has
// to be the identical call.
var ruleClasses = []string{"read", "fact", "build", "commit"}

// subcommand is a second word that says what the program does.
var subcommand = regexp.MustCompile(`^[a-z][a-z0-9:_-]*$`)

// ruleOf is the rule that covers an action, if one may: policy alone asks, nothing
// of it is irreversible, deletes, or is unknown before it runs.
func ruleOf(it *item) (sessionRule, bool) {
	j := it.judgement
	if j.AskAlways || j.Undecided || j.Deletes || j.Network || len(j.Hosts) > 0 || j.Reversibility == ir.Irreversible || it.effects.Program != nil {
		return sessionRule{}, false
	}
	if slices.ContainsFunc(it.questions, func(q question) bool { return q.gate != gatePolicy }) {
		return sessionRule{}, false
	}
	r := sessionRule{Tool: it.action.Tool, Tier: j.Tier.Needed().String(), Why: whyAsked(j)}
	var ok bool
	if it.effects.Shell.Text != "" {
		r.Argv, ok = leadingWords(j)
	} else {
		r.Folder, ok = folderOf(append(slices.Clone(it.effects.Reads), it.effects.Writes...))
	}
	return r, ok && len(r.Why) > 0
}

// whyAsked names the rules that ask, sorted.
func whyAsked(j policy.Judgement) []string {
	var why []string
	for _, r := range j.Reasons {
		if r.Verdict == policy.Ask && !slices.Contains(why, r.Rule) {
			why = append(why, r.Rule)
		}
	}
	slices.Sort(why)
	return why
}

// folderOf is the folder below the root that holds all paths; the root itself is
// none, since a rule for it would be one for everything.
func folderOf(paths []string) (string, bool) {
	folder := ""
	for i, p := range paths {
		p = path.Clean(p)
		if path.IsAbs(p) || p == ".." || strings.HasPrefix(p, "../") {
			return "", false
		}
		if dir := path.Dir(p); i == 0 {
			folder = dir
		} else if dir != folder {
			return "", false
		}
	}
	return folder, folder != "" && folder != "."
}

// leadingWords are those of every command of a line, sorted, each once.
func leadingWords(j policy.Judgement) ([][]string, bool) {
	if len(j.Programs) == 0 || len(j.Programs) != len(j.Runs) || len(j.Targets) > 0 {
		return nil, false
	}
	var all [][]string
	for _, p := range j.Programs {
		if !slices.Contains(ruleClasses, p.Class) || p.Wraps || p.Remote || len(p.Env) > 0 || p.Dir != "." || len(p.Words) == 0 {
			return nil, false
		}
		words := p.Words[:1]
		if len(p.Words) > 1 && subcommand.MatchString(p.Words[1]) {
			words = p.Words[:2]
		}
		if !slices.ContainsFunc(all, func(w []string) bool { return slices.Equal(w, words) }) {
			all = append(all, words)
		}
	}
	slices.SortFunc(all, slices.Compare)
	return all, true
}

// covers reports whether a rule that was given covers an action that needs now.
func (r sessionRule) covers(now sessionRule) bool {
	var given, needed ir.Tier
	if given.UnmarshalText([]byte(r.Tier)) != nil || needed.UnmarshalText([]byte(now.Tier)) != nil || !given.Covers(needed) || r.Tool != now.Tool {
		return false
	}
	for _, why := range now.Why {
		if !slices.Contains(r.Why, why) {
			return false
		}
	}
	if now.Folder != "" {
		return r.Folder != "" && (now.Folder == r.Folder || strings.HasPrefix(now.Folder, r.Folder+"/"))
	}
	for _, words := range now.Argv {
		if !slices.ContainsFunc(r.Argv, func(w []string) bool { return slices.Equal(w, words) }) {
			return false
		}
	}
	return len(now.Argv) > 0
}

// String is the rule for a person.
func (r sessionRule) String() string {
	if r.Folder != "" {
		return fmt.Sprintf("%s below %s/", r.Tool, r.Folder)
	}
	lines := make([]string, len(r.Argv))
	for i, words := range r.Argv {
		lines[i] = strings.Join(words, " ") + " …"
	}
	return "commands that are only: " + strings.Join(lines, ", ")
}

const rulePrefix = "rule:"

// stored is the rule as the session's grants keep it.
func (r sessionRule) stored() string {
	b, err := json.Marshal(r)
	if err != nil { // texts only
		return ""
	}
	return rulePrefix + string(b)
}

// DescribeGrant is a session's grant for a person's list.
func DescribeGrant(grant string) string {
	var r sessionRule
	text, ok := strings.CutPrefix(grant, rulePrefix)
	if !ok || json.Unmarshal([]byte(text), &r) != nil {
		return "exactly the call with the fingerprint " + strings.TrimPrefix(grant, "scope:")
	}
	return r.String()
}

// ruled reports whether a grant of the session covers the action beyond its exact scope.
func ruled(it *item, grants []string) (string, bool) {
	now, ok := ruleOf(it)
	if !ok {
		return "", false
	}
	for _, g := range grants {
		var r sessionRule
		text, isRule := strings.CutPrefix(g, rulePrefix)
		if isRule && json.Unmarshal([]byte(text), &r) == nil && r.covers(now) {
			return r.String(), true
		}
	}
	return "", false
}
