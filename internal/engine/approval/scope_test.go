package approval_test

import (
	"regexp"
	"testing"

	"car/internal/engine/approval"
	"car/internal/engine/ir"
)

func push() approval.Scope {
	return approval.Scope{
		Tool: "shell", ToolVersion: "1", Parameters: map[string]any{"command": "git push origin HEAD:main", "timeout_secs": 120.0},
		RepositoryRoot: "/r", Cwd: "/r", Target: "origin/main", TargetSource: "derived", Environment: "unspecified",
		CredentialCapabilities: []string{"git:configured-remote"}, Substrate: "local", EnvDigest: "e",
	}
}

func mustDigest(t *testing.T, s approval.Scope) ir.Digest {
	t.Helper()
	d, err := s.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A-APPR-2, P-GUARD-2: one byte different in any part is another scope.
func TestEveryPartOfAScopeCounts(t *testing.T) {
	t.Parallel()
	seen := map[ir.Digest]string{mustDigest(t, push()): "the original"}
	for name, change := range map[string]func(*approval.Scope){
		"tool":              func(s *approval.Scope) { s.Tool = "shell2" },
		"version":           func(s *approval.Scope) { s.ToolVersion = "2" },
		"command":           func(s *approval.Scope) { s.Parameters["command"] = "git push origin HEAD:main " },
		"number":            func(s *approval.Scope) { s.Parameters["timeout_secs"] = 121.0 },
		"number as text":    func(s *approval.Scope) { s.Parameters["timeout_secs"] = "120" },
		"one more":          func(s *approval.Scope) { s.Parameters["background"] = false },
		"one less":          func(s *approval.Scope) { delete(s.Parameters, "timeout_secs") },
		"root":              func(s *approval.Scope) { s.RepositoryRoot = "/R" },
		"cwd":               func(s *approval.Scope) { s.Cwd = "/r/a" },
		"target":            func(s *approval.Scope) { s.Target = "origin/mai\u043d" },
		"target's source":   func(s *approval.Scope) { s.TargetSource = "stated by the model" },
		"environment":       func(s *approval.Scope) { s.Environment = "production" },
		"capability":        func(s *approval.Scope) { s.CredentialCapabilities = []string{"git:configured-remote", "ssh:agent"} },
		"no capability":     func(s *approval.Scope) { s.CredentialCapabilities = nil },
		"substrate":         func(s *approval.Scope) { s.Substrate = "sandbox" },
		"child environment": func(s *approval.Scope) { s.EnvDigest = "f" },
		"moved value":       func(s *approval.Scope) { s.Environment, s.Substrate = s.Substrate, s.Environment },
	} {
		s := push()
		change(&s)
		d := mustDigest(t, s)
		if other, known := seen[d]; known {
			t.Errorf("%s changed and the digest is that of %s", name, other)
		}
		seen[d] = name
	}
}

// A-APPR-2: what is no difference changes nothing: the order of keys, an empty
// list for none, the Go type of a number.
func TestTheSameScopeHasOneDigest(t *testing.T) {
	t.Parallel()
	a := push()
	a.Parameters = map[string]any{"timeout_secs": 120, "command": "git push origin HEAD:main"}
	if mustDigest(t, a) != mustDigest(t, push()) {
		t.Error("a number's Go type makes another scope")
	}
	empty, none := approval.Scope{Tool: "x", Parameters: map[string]any{}, CredentialCapabilities: []string{}}, approval.Scope{Tool: "x"}
	if mustDigest(t, empty) != mustDigest(t, none) {
		t.Error("an empty list and none are two scopes")
	}
	// Computed outside of Go: nothing is an empty object or list, never null.
	if want := ir.Digest("85b7bf118db69d3fb2092775f4fdca5b34cd2886e932fc3f35855800434499b2"); mustDigest(t, none) != want {
		t.Errorf("the digest is %s, want %s", mustDigest(t, none), want)
	}
}

// E-JCS-2, D-18: what a second value could share has no digest and so no approval.
func TestAValueWithoutOneReadingHasNoDigest(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]any{"a large integer": int64(1)<<53 + 1, "a function": func() {}} {
		s := push()
		s.Parameters["n"] = v
		if d, err := s.Digest(); err == nil {
			t.Errorf("%s has the digest %s", name, d)
		}
		if id, err := s.EffectID("s1", "t1c1", 1); err == nil {
			t.Errorf("%s has the identity %s", name, id)
		}
	}
}

// A-APPR-5: act_ and 32 hex digits of SHA-256 over the canonical JSON of session,
// call and scope. The constant was computed outside of Go.
func TestEffectID(t *testing.T) {
	t.Parallel()
	id := func(session, call string, attempt int) approval.EffectID {
		t.Helper()
		id, err := push().EffectID(session, call, attempt)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	first := id("s1", "t1c1", 1)
	if !regexp.MustCompile(`^act_[0-9a-f]{32}$`).MatchString(string(first)) {
		t.Errorf("the identity %q is not act_ and 32 hex digits", first)
	}
	if want := approval.EffectID("act_06a44eb6f459219ee5479c16937e6add"); first != want {
		t.Errorf("the identity is %s, want %s", first, want)
	}
	if id("s1", "t1c1", 0) != first {
		t.Error("an unnumbered attempt is not the first")
	}
	seen := map[approval.EffectID]bool{first: true}
	for _, other := range []approval.EffectID{id("s2", "t1c1", 1), id("s1", "t1c2", 1), id("s1", "t1c1", 2), id("s1", "t1c1", 3)} {
		if seen[other] {
			t.Errorf("%s names two effects", other)
		}
		seen[other] = true
	}
}
