package engine

import (
	"fmt"
	"slices"
	"sync"

	"car/internal/engine/handle"
	"car/internal/engine/ir"
	"car/internal/engine/policy"
)

// Rule is a check that a program adds while it runs, beside the rule files. It
// only denies: a text is why, empty passes. It may read state, changes nothing,
// and is called concurrently; one that panics denies.
type Rule struct {
	Name        string
	Description string
	Check       func(a ir.Action, get func(key string) (any, bool)) string
}

// RuleInfo is what a listing tells of a rule.
type RuleInfo struct{ Name, Description string }

// rules are the added rules, global and by session (E-SESS-1). Safe for
// concurrent use.
type rules struct {
	newID func() string

	mu       sync.RWMutex
	global   []Rule
	sessions map[string][]Rule
}

// OpenSession mints a policy session; its rules add to the global ones.
func (r *Runtime) OpenSession() string {
	r.rules.mu.Lock()
	defer r.rules.mu.Unlock()
	id := r.rules.newID()
	r.rules.sessions[id] = nil
	return id
}

// HasSession tells whether a policy session is open.
func (r *Runtime) HasSession(id string) bool {
	r.rules.mu.RLock()
	defer r.rules.mu.RUnlock()
	_, ok := r.rules.sessions[id]
	return ok
}

// CloseSession drops a policy session and its rules; false when there was none.
func (r *Runtime) CloseSession(id string) bool {
	r.rules.mu.Lock()
	defer r.rules.mu.Unlock()
	_, ok := r.rules.sessions[id]
	delete(r.rules.sessions, id)
	r.dispatcher.Forget(id)
	r.Streams().CancelOwned(handle.Owner{Session: id})
	return ok
}

// AddRule registers a rule, globally for an empty session.
func (r *Runtime) AddRule(session string, rule Rule) error {
	return r.rules.change(session, func(list []Rule) []Rule { return append(list, rule) })
}

// RemoveRules unregisters every rule of a name and counts them; none is fine.
func (r *Runtime) RemoveRules(session, name string) (int, error) {
	n := 0
	err := r.rules.change(session, func(list []Rule) []Rule {
		kept := slices.DeleteFunc(slices.Clone(list), func(rule Rule) bool { return rule.Name == name })
		n = len(list) - len(kept)
		return kept
	})
	return n, err
}

// Rules lists the rules in the order they were added.
func (r *Runtime) Rules(session string) ([]RuleInfo, error) {
	var infos []RuleInfo
	err := r.rules.change(session, func(list []Rule) []Rule {
		for _, rule := range list {
			infos = append(infos, RuleInfo{rule.Name, rule.Description})
		}
		return list
	})
	return infos, err
}

func (s *rules) change(session string, f func([]Rule) []Rule) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if session == "" {
		s.global = f(s.global)
		return nil
	}
	list, ok := s.sessions[session]
	if !ok {
		return unknownSession(session)
	}
	s.sessions[session] = f(list)
	return nil
}

func unknownSession(id string) error { return fmt.Errorf("unknown session id '%s'", id) }

// violations are what the added rules say against an action: global, then its
// session's. A session that is not open refuses; it never falls back to the global rules alone.
func (s *rules) violations(session string, a ir.Action, get func(string) (any, bool)) []policy.Violation {
	s.mu.RLock()
	list := slices.Clone(s.global)
	own, ok := s.sessions[session]
	list = append(list, own...)
	s.mu.RUnlock()
	if session != "" && !ok {
		return []policy.Violation{{PolicyName: "session", ActionID: a.ID, Reason: unknownSession(session).Error()}}
	}
	var found []policy.Violation
	for _, rule := range list {
		if reason := rule.check(a, get); reason != "" {
			found = append(found, policy.Violation{PolicyName: rule.Name, ActionID: a.ID, Reason: reason})
		}
	}
	return found
}

func (rule Rule) check(a ir.Action, get func(string) (any, bool)) (reason string) {
	defer func() {
		if p := recover(); p != nil {
			reason = fmt.Sprintf("rule panicked: %v", p)
		}
	}()
	return rule.Check(a, get)
}
