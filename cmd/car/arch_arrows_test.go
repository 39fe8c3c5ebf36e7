package main

import (
	"strings"
	"testing"
)

// room is a place of the drawing in docs/architecture.md: which packages it is,
// which of the module's packages its code may import, and why no others.
type room struct {
	is  string
	may []string
	why string
}

// rooms are looked through in order; the first that fits a package is its room.
// Tests are free: they put rooms together.
var rooms = []room{
	{"cmd/car", []string{"**"}, "the door wires everything"},
	{".car-example", nil, "it is data, carried into the binary"},

	{"internal/tui/termguard", nil, "it has to initialise before every other package, so it stands on the standard library alone (D-16)"},
	{"internal/tui/safe", nil, "the filter at the terminal's edge is a leaf, so that everybody can use it (P-TERM-1)"},
	{"internal/tui/**", []string{"internal/tui/**", "internal/assistant", "internal/assistant/command", "internal/engine/ir", "internal/engine/eventlog"},
		"a screen shows what happened and asks; if it could reach policy, dispatch or tools it could act on its own"},

	{"internal/assistant/llm/**", []string{"internal/assistant/llm/**", "internal/engine/ir"},
		"a model only talks; what it says becomes an action elsewhere"},
	{"internal/assistant/store", []string{"internal/assistant/llm", "internal/engine/ir", "internal/engine/approval"},
		"the store keeps rows for the conversation and the approval ledger and decides nothing"},
	{"internal/assistant/project", []string{"internal/engine/ir", "internal/engine/policy", "internal/engine/gate/**", "internal/engine/redact"},
		"it reads .car/ into the types of the rooms which are governed by it, and starts nothing (P-GUARD-5)"},
	{"internal/assistant/**", []string{"internal/assistant/**", "internal/engine/**"},
		"the conversation stands on the engine; it draws nothing and runs nothing itself"},

	{"internal/tools/**", []string{"internal/tools/**", "internal/engine/ir", "internal/engine/tool"},
		"a tool declares and acts through Env; it never asks for permission and names no policy"},

	{"internal/engine/ir", nil, "everything imports it, so it imports nothing"},
	{"internal/engine/shell", nil, "it parses shell text and judges nothing"},
	{"internal/engine/redact", nil, "it masks text and knows of nobody"},
	{"internal/engine/tool", []string{"internal/engine/ir"}, "the contract of a hand is data and interfaces"},
	{"internal/engine/jsonl", nil, "a file of lines does not know what they mean"},
	{"internal/engine/state", []string{"internal/engine/ir", "internal/engine/jsonl"}, "a store of values does not know who writes them"},
	{"internal/engine/eventlog", []string{"internal/engine/ir", "internal/engine/redact", "internal/engine/jsonl"}, "a record does not depend on what it records"},
	{"internal/engine/span", nil, "what followed how long things took knows nothing of them"},
	{"internal/engine/receipt", []string{"internal/engine/ir", "internal/engine/eventlog"}, "a receipt is read from the record and from nothing else"},
	{"internal/engine/handle", []string{"internal/engine/ir"}, "a stream's buffer does not know who reads it"},
	{"internal/engine/idem", []string{"internal/engine/ir"}, "what was answered before is data, whoever asks"},
	{"internal/engine/undo", []string{"internal/engine/ir", "internal/engine/tool"}, "what files were before does not depend on why they changed"},
	{"internal/engine/approval", []string{"internal/engine/ir"}, "the owner of decisions takes no part in making them"},
	{"internal/engine/policy", []string{"internal/engine/ir", "internal/engine/tool", "internal/engine/shell", "internal/engine/redact"},
		"a judgement is a function of the action and the rules; it can not dispatch"},
	{"internal/engine/verify/**", []string{"internal/engine/verify/**", "internal/engine/ir"}, "a check is a pure function of a proposal (E-VERIFY)"},
	{"internal/engine/gate/**", []string{"internal/engine/gate/**", "internal/engine/ir", "internal/engine/policy", "internal/engine/verify/**", "internal/engine/admit", "internal/engine/tool"},
		"a gate gives an opinion on data; it can not run what it judges"},
	{"internal/engine/admit", []string{"internal/engine/ir", "internal/engine/tool", "internal/engine/state", "internal/engine/eventlog", "internal/engine/policy",
		"internal/engine/approval", "internal/engine/verify/**", "internal/engine/redact"},
		"admission hands out tickets; if it could dispatch, a ticket would be worth nothing"},
	{"internal/engine/dispatch", []string{"internal/engine/ir", "internal/engine/tool", "internal/engine/state", "internal/engine/eventlog",
		"internal/engine/approval", "internal/engine/admit", "internal/engine/redact", "internal/engine/policy", "internal/engine/handle", "internal/engine/idem", "internal/engine/undo"},
		"dispatch runs what a ticket names; it does not judge"},
	{"internal/engine/supervise", []string{"internal/engine/ir", "internal/engine/eventlog", "internal/engine/admit", "internal/engine/policy", "internal/engine/approval", "internal/engine/redact"},
		"another process gives opinions through admission's interfaces and holds no ticket"},
	{"internal/engine/**", []string{"internal/engine/**"}, "the law knows neither conversation nor screen nor the hands it governs"},
}

// The arrows of the house: imports point down the drawing.
func TestArchArrowsPointDown(t *testing.T) {
	t.Parallel()
	s := mustReadSource(t)
	for _, f := range s.files {
		r, ok := roomOf(f.room)
		if !ok {
			t.Errorf("%s stands in no room of the drawing; give it a line in rooms (arch_arrows_test.go) that says what it may import and why", f.path)
			continue
		}
		if f.test {
			continue
		}
		for _, imp := range f.imports() {
			target, ours := strings.CutPrefix(imp, "car/")
			if !ours || target == f.room || matchesAny(r.may, target) || excepted("arrow", f.path, target) {
				continue
			}
			t.Errorf("%s imports %s, which turns an arrow of the house: %s", f.path, imp, r.why)
		}
	}
}

func roomOf(pkg string) (room, bool) {
	for _, r := range rooms {
		if matches(r.is, pkg) {
			return r, true
		}
	}
	return room{}, false
}
