package claim

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// Verdict says whether receipts stand behind a claim. The zero value is unsupported.
type Verdict uint8

// The verdicts (A-CLAIM-4). Stale is evidence that is older than the last change
// it would have to cover.
const (
	Unsupported Verdict = iota
	Stale
	Supported
)

// Finding is a claim with what the receipts say of it.
type Finding struct {
	Claim   Claim
	Verdict Verdict
	// Contradicted is true when the last matching run failed.
	Contradicted bool
	// Why says it in neutral words.
	Why string
}

// String is the finding as a person and a model read it.
func (f Finding) String() string { return f.Claim.Kind.String() + ": " + f.Why }

// Judge looks for a receipt behind every claim of a closing text and returns the
// claims that have none, or an old one. receipts are oldest first.
func Judge(text string, receipts []Receipt) []Finding {
	var open []Finding
	seen := map[string]bool{}
	for _, c := range Find(text) {
		f := judge(c, receipts)
		if f.Verdict == Supported || seen[f.String()] {
			continue
		}
		seen[f.String()] = true
		open = append(open, f)
	}
	return open
}

func judge(c Claim, receipts []Receipt) Finding {
	switch c.Kind {
	case TestsPass:
		return judgeRun(c, receipts, classTest, testSummary, "a test run")
	case BuildSucceeds:
		return judgeRun(c, receipts, classBuild, nil, "a build")
	case Committed:
		return judgeDone(c, receipts, classCommit, "a commit")
	case Pushed:
		return judgeDone(c, receipts, classPush, "a push")
	case FilesChanged:
		return judgeFiles(c, receipts)
	case CleanTree:
		return judgeClean(c, receipts)
	case Deployed:
		return judgeDeployed(c, receipts)
	case Sent:
		return judgeSent(c, receipts)
	default:
		return Finding{Claim: c, Verdict: Supported}
	}
}

var (
	// testSummary is the closing line of a test runner in somebody's output.
	testSummary = regexp.MustCompile(`(?m)^ok\s+\S+\s|^PASS$|\b\d+ passed\b|test result: ok|^OK \(\d+ tests?|^Tests:.*\d+ passed|BUILD SUCCESS|^# pass [1-9]|\d+ examples?, 0 failures|All tests passed`)
	// failSummary is a runner that says the opposite.
	failSummary = regexp.MustCompile(`(?m)^FAIL\b|^--- FAIL|\b[1-9]\d* failed\b|test result: FAILED|^FAILED\b|BUILD FAILURE|\b[1-9]\d* failures?\b`)
)

// judgeRun decides a claim that a run stands behind: the last one that matches
// has to be a success, and nothing may have changed since.
func judgeRun(c Claim, receipts []Receipt, want class, summary *regexp.Regexp, what string) Finding {
	f := Finding{Claim: c, Why: "no receipt of " + what}
	changed := ""
	for i := len(receipts) - 1; i >= 0; i-- {
		r := receipts[i]
		if !r.Ran {
			continue
		}
		matches := r.classes()&want != 0 || summary != nil && len(r.Commands) > 0 && summary.MatchString(r.Excerpt)
		switch {
		case !matches && changed == "":
			changed = changedBy(r)
		case matches && !succeeded(r):
			f.Contradicted = true
			f.Why = fmt.Sprintf("the last run, %s, did not succeed", quoted(r.Brief))
			return f
		case matches && changed != "":
			f.Verdict = Stale
			f.Why = fmt.Sprintf("%s ran before %s changed", quoted(r.Brief), changed)
			return f
		case matches:
			f.Verdict = Supported
			return f
		}
	}
	return f
}

// succeeded reads the exit code, and the output where the code is, or may be,
// another command's.
func succeeded(r Receipt) bool {
	switch fails := failSummary.MatchString(r.Excerpt); {
	case r.Masked && fails:
		return false
	case !r.OK && len(r.Commands) > 1 && !fails && testSummary.MatchString(r.Excerpt):
		return true
	default:
		return r.OK
	}
}

// changedBy names what of the sources a call changed for certain, empty if nothing.
func changedBy(r Receipt) string {
	for _, p := range r.Changed {
		if isSource(p) {
			return p
		}
	}
	if !r.OK || r.Effect == Read {
		return ""
	}
	for _, words := range r.Commands {
		if c := classOf(words); c&classEdit != 0 && editsSource(words) {
			return "files with " + quoted(strings.Join(words, " "))
		}
	}
	return ""
}

// isSource leaves out prose, which no test run covers.
func isSource(p string) bool {
	switch strings.ToLower(path.Ext(p)) {
	case ".md", ".txt", ".rst", ".adoc", ".png", ".svg", ".jpg", ".gif", ".log":
		return false
	}
	return path.Base(p) != "LICENSE"
}

// editsSource reports a word that names a source file: the rest is doubt.
func editsSource(words []string) bool {
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") && path.Ext(w) != "" && pathLike.MatchString(strings.TrimPrefix(w, "./")) && isSource(w) {
			return true
		}
	}
	return false
}

// judgeDone decides a claim that one successful command stands behind for good.
func judgeDone(c Claim, receipts []Receipt, want class, what string) Finding {
	f := Finding{Claim: c, Why: "no receipt of " + what}
	for i := len(receipts) - 1; i >= 0; i-- {
		r := receipts[i]
		if !r.Ran || r.classes()&want == 0 {
			continue
		}
		if r.OK {
			f.Verdict = Supported
			return f
		}
		if !f.Contradicted {
			f.Contradicted = true
			f.Why = fmt.Sprintf("the last try, %s, did not succeed", quoted(r.Brief))
		}
	}
	return f
}

// judgeClean decides a claim that git status stands behind, when it ran after
// everything that changed a file.
func judgeClean(c Claim, receipts []Receipt) Finding {
	f := Finding{Claim: c, Why: "no receipt of git status"}
	changed := ""
	for i := len(receipts) - 1; i >= 0; i-- {
		r := receipts[i]
		if !r.Ran {
			continue
		}
		switch {
		case r.OK && r.classes()&classStatus != 0:
			f.Verdict = Supported
			if changed != "" {
				f.Verdict = Stale
				f.Why = fmt.Sprintf("%s ran before %s changed", quoted(r.Brief), changed)
			}
			return f
		case changed == "" && len(r.Changed) > 0:
			changed = r.Changed[0]
		case changed == "":
			changed = changedBy(r)
		}
	}
	return f
}

// judgeSent decides a claim that something left this machine. Any call outward that
// worked supports it, unless what it did is known to be something else: nobody can
// tell what a service was asked to do.
func judgeSent(c Claim, receipts []Receipt) Finding {
	if f := judgeDone(c, receipts, classSend|classHealth, "something that was sent"); f.Verdict == Supported || f.Contradicted {
		return f
	}
	for _, r := range receipts {
		if r.OK && r.Ran && (r.Effect == Outward && len(r.Commands) == 0 && !r.GoalCheck || r.outwardUnknown()) {
			return Finding{Claim: c, Verdict: Supported}
		}
	}
	return Finding{Claim: c, Why: "no receipt of something that was sent"}
}

// judgeDeployed decides a claim that a command of a deploying kind stands behind, or
// a program of the project's own that may be one.
func judgeDeployed(c Claim, receipts []Receipt) Finding {
	f := judgeDone(c, receipts, classDeploy|classPush|classSend, "a deployment")
	if f.Verdict == Supported || f.Contradicted {
		return f
	}
	for _, r := range receipts {
		if r.OK && r.Ran && (r.outwardUnknown() || strings.Contains(strings.ToLower(r.Brief), "deploy")) {
			return Finding{Claim: c, Verdict: Supported}
		}
	}
	return f
}

// outwardUnknown reports a shell text that reached out with a program nobody knows.
func (r Receipt) outwardUnknown() bool {
	if r.Effect != Outward {
		return false
	}
	for _, words := range r.Commands {
		if classOf(words) == 0 {
			return true
		}
	}
	return false
}

// judgeFiles decides a claim about files. A shell command that may have changed
// anything supports it: nobody can tell.
func judgeFiles(c Claim, receipts []Receipt) Finding {
	changed := map[string]bool{}
	for _, r := range receipts {
		if r.OK && r.Ran && r.mayEdit() {
			return Finding{Claim: c, Verdict: Supported}
		}
		for _, p := range r.Changed {
			if c.Path != "" && samePath(p, c.Path) {
				return Finding{Claim: c, Verdict: Supported}
			}
			changed[p] = true
		}
	}
	if c.Path != "" {
		return Finding{Claim: c, Why: fmt.Sprintf("no receipt of a change to %s", quoted(c.Path))}
	}
	if len(changed) >= c.Count {
		return Finding{Claim: c, Verdict: Supported}
	}
	return Finding{Claim: c, Why: fmt.Sprintf("%d claimed, receipts of %d", c.Count, len(changed))}
}

// samePath compares from the end, since a text often leaves leading folders out.
func samePath(have, claimed string) bool {
	claimed = path.Clean(claimed)
	return have == claimed || strings.HasSuffix(have, "/"+claimed) || strings.HasSuffix(claimed, "/"+have)
}

// quoted shows a command or path in one short line.
func quoted(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 80 {
		s = string(r[:79]) + "…"
	}
	return "`" + s + "`"
}
