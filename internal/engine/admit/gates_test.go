package admit_test

import (
	"context"
	"strings"
	"testing"

	"car/internal/engine/admit"
	"car/internal/engine/ir"
	"car/internal/engine/policy"
)

// asksAbout is a gate that asks about one action under a fingerprint of its own.
func asksAbout(id ir.ActionID, fingerprint string) gate {
	return says("leak", admit.Opinion{Verdict: policy.Ask, Escalations: []admit.Escalation{{Actions: []ir.ActionID{id}, Fingerprint: fingerprint, Reason: "it may leak"}}})
}

// E-PIPE-5, B023: a word about a call, given before a gate had a question, answers
// policy's question and not the gate's.
func TestAGrantDoesNotAnswerAGate(t *testing.T) {
	t.Parallel()
	ask := func(gates ...admit.Gate) (*answer, *admit.Admission) {
		to := &answer{decision: admit.Decision{Kind: admit.AllowSession, By: "p"}}
		adm, _ := admitted(t, office(t, &book{grants: []string{"scope:" + scopeOfAsk(t)}}, to, gates...), proposal("ask"), admit.Options{RefuseAction: true})
		if _, err := adm.Ask(t.Context(), []int{0}); err != nil {
			t.Fatal(err)
		}
		return to, adm
	}
	if to, adm := ask(); len(to.asked) != 0 || adm.Rejected(0) != nil {
		t.Errorf("policy's question was asked again: %+v", to.asked)
	}
	to, _ := ask(asksAbout("a1", "f"))
	if len(to.asked) != 1 || strings.Join(to.asked[0].Reasons, "|") != "edits need a word (rule posture)|it may leak" {
		t.Errorf("asked %+v", to.asked)
	}
}

// E-PIPE-7: a yes of an earlier generation does not answer what the gates ask anew.
func TestANewQuestionNeedsANewYes(t *testing.T) {
	t.Parallel()
	to := &answer{decision: admit.Decision{Kind: admit.AllowOnce, By: "p"}}
	fingerprint := "f"
	a := office(t, &book{}, to, gate{"leak", func(context.Context, admit.View) (admit.Opinion, error) {
		return admit.Opinion{Verdict: policy.Ask, Escalations: []admit.Escalation{{Actions: []ir.ActionID{"a1"}, Fingerprint: fingerprint, Reason: "it may leak"}}}, nil
	}})
	before, _ := admitted(t, a, proposal("x", "y"), admit.Options{})
	if _, err := before.Ask(t.Context(), []int{0}); err != nil {
		t.Fatal(err)
	}
	same, _ := admitted(t, a, proposal("x", "z"), admit.Options{Before: before, Generation: 1})
	if same.HasQuestions([]int{0}) {
		t.Error("the same question is open again")
	}
	fingerprint = "g"
	anew, _ := admitted(t, a, proposal("x", "z"), admit.Options{Before: before, Generation: 1})
	if _, err := anew.Draw(0, 1); err == nil || !anew.HasQuestions([]int{0}) {
		t.Error("an old yes answered a new question")
	}
}

// G-GATE-1, G-GATE-2: policy's asks are logged as a gate in its place, right behind
// static verification; without any gate there is no such work.
func TestTiersAreLoggedInTheirPlace(t *testing.T) {
	t.Parallel()
	allow := admit.Opinion{Verdict: policy.Allow}
	for _, row := range []struct {
		gates []admit.Gate
		want  string
	}{
		{nil, ""},
		{[]admit.Gate{says("b", allow)}, "permission_tiers needs_approval asks about a1; b allow"},
		{[]admit.Gate{says(admit.StaticVerification, allow), says("b", allow)}, "static_verification allow; permission_tiers needs_approval asks about a1; b allow"},
		{[]admit.Gate{says(admit.StaticVerification, allow)}, "static_verification allow; permission_tiers needs_approval asks about a1"},
	} {
		b := &book{}
		admitted(t, office(t, b, nil, row.gates...), proposal("ask", "x"), admit.Options{})
		var got []string
		for _, e := range b.events {
			line := e.Data["gate"].(string) + " " + e.Data["decision"].(string)
			if reason, ok := e.Data["reason"].(string); ok {
				line += " " + reason
			}
			got = append(got, line)
		}
		if strings.Join(got, "; ") != row.want {
			t.Errorf("%q, want %q", strings.Join(got, "; "), row.want)
		}
	}
}

// E-PIPE-11: checks are kept in order, for the action they name, whatever else the gate says.
func TestChecksOfAnOpinion(t *testing.T) {
	t.Parallel()
	one, two := admit.Check{Action: "a2", Name: "one"}, admit.Check{Action: "a2", Name: "two"}
	a := office(t, &book{}, nil, says("g", admit.Opinion{Verdict: policy.Allow, Checks: []admit.Check{one, {Action: "gone"}}}), says("h", admit.Opinion{Verdict: policy.Allow, Checks: []admit.Check{two}}))
	adm, _ := admitted(t, a, proposal("x", "y"), admit.Options{})
	if got := adm.Checks(1); len(adm.Checks(0)) != 0 || len(got) != 2 || got[0].Name != "one" || got[1].Name != "two" {
		t.Errorf("%+v %+v", adm.Checks(0), got)
	}
	again, _ := admitted(t, a, proposal("x", "y"), admit.Options{Before: adm, Generation: 1})
	if len(again.Checks(1)) != 2 {
		t.Errorf("a generation inherited checks: %+v", again.Checks(1))
	}
}
