package llm

import (
	"regexp"
	"testing"
)

func callPart(id, providerID, provider string) Part {
	return Part{Kind: PartToolCall, Origin: Origin{Provider: provider}, Call: &ToolCall{ID: id, ProviderID: providerID, Name: "x"}}
}

// A-LOOP-4, B057: whatever the provider called its calls, ids on the wire are
// unique, acceptable to everyone and stable.
func TestWireIDs(t *testing.T) {
	t.Parallel()
	messages := []Message{
		{Role: Assistant, Parts: []Part{callPart("t1c1", "call_0", "p"), callPart("t1c2", "call_0", "p")}},
		{Role: Assistant, Parts: []Part{callPart("t2c1", "call_0", "p"), callPart("t2c2", "", "p"), callPart("t2c3", "bad id!", "p")}},
		{Role: Assistant, Parts: []Part{callPart("t3c1", "toolu_1", "other"), callPart("t3c2", "toolu_2", "p")}},
	}
	ids := WireIDs(messages, "p")
	if ids["t1c1"] != "call_0" || ids["t3c2"] != "toolu_2" {
		t.Errorf("well-formed ids are not kept: %v", ids)
	}
	seen := map[string]bool{}
	nine := regexp.MustCompile(`^[a-z0-9]{9}$`)
	for call, id := range ids {
		if seen[id] {
			t.Errorf("id %q stands twice", id)
		}
		seen[id] = true
		if call != "t1c1" && call != "t3c2" && !nine.MatchString(id) {
			t.Errorf("call %s is %q on the wire, want nine alphanumerics", call, id)
		}
	}
	if len(ids) != 7 {
		t.Errorf("%d ids for 7 calls", len(ids))
	}
	// A-CTX-4: a longer conversation calls the earlier calls the same.
	for call, id := range WireIDs(messages[:2], "p") {
		if ids[call] != id {
			t.Errorf("call %s changed from %q to %q", call, id, ids[call])
		}
	}
}

// A derived id that is taken gives way.
func TestWireIDCollision(t *testing.T) {
	t.Parallel()
	taken := derivedID("t1c2", map[string]bool{})
	ids := WireIDs([]Message{{Role: Assistant, Parts: []Part{callPart("t1c1", taken, "p"), callPart("t1c2", "", "p")}}}, "p")
	if ids["t1c1"] != taken || ids["t1c2"] == taken {
		t.Errorf("got %v", ids)
	}
}
