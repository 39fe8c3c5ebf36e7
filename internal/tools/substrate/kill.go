package substrate

// Killer is a substrate that can end everything it owns at once, waiting for
// nothing, for a person who will not wait for Close. The substrate is of no use
// afterwards. Safe for concurrent use.
type Killer interface{ Kill() }

var _ Killer = (*local)(nil)

// Kill ends every process that this substrate owns.
func (l *local) Kill() { l.owned.killNow() }
