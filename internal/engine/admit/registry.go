package admit

import "slices"

// RegisterGate appends a gate (E-PIPE-4). It applies from the next proposal on.
func (a *Admitter) RegisterGate(g Gate) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.gates = append(slices.Clone(a.gates), g)
}

// ReplaceGate puts a gate where the first of its name stands and drops every
// other of that name; without one it appends.
func (a *Admitter) ReplaceGate(g Gate) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := slices.IndexFunc(a.gates, func(old Gate) bool { return old.Name() == g.Name() })
	if at < 0 {
		a.gates = append(slices.Clone(a.gates), g)
		return
	}
	kept := slices.DeleteFunc(slices.Clone(a.gates), func(old Gate) bool { return old.Name() == g.Name() })
	// Nothing before the first of its name was dropped, so its place is the same.
	a.gates = slices.Insert(kept, at, g)
}

// GateNames lists the gates in the order they are asked.
func (a *Admitter) GateNames() []string {
	var names []string
	for _, g := range a.inForce() {
		names = append(names, g.Name())
	}
	return names
}

// ClearGates removes every gate.
func (a *Admitter) ClearGates() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.gates = nil
}

// inForce is the list that one pass uses; it is never changed in place.
func (a *Admitter) inForce() []Gate {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.gates
}
