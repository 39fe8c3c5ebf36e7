package model

// Rules say what a walk lets happen. Nil functions ask for nothing.
type Rules struct {
	// Refuse names actions that never start.
	Refuse func(i int) bool
	// May is asked of each action that starts, in the order they run; where it says
	// no, the action fails and leaves nothing.
	May func(i int) bool
	// Undecided is told of each action that may or may not start, or assertion that
	// may or may not hold, because of unknown keys; where it says yes, that is taken
	// as satisfied. Nil leaves it open (V-BEYOND-1).
	Undecided func(i int) bool
}

// Walk takes every action through the plan as the engine would (V-VERIFY-10). A
// proposal that is refused whole starts nothing.
func (s *State) Walk(r Rules) {
	if s.plan.Refused != "" {
		for i := range s.plan.Actions {
			s.endings[i] = Rejected
		}
		return
	}
	for _, level := range s.plan.levels {
		if level.Sequential {
			for _, i := range level.Actions {
				s.act(i, s.judge(i, &r), &r)
			}
			continue
		}
		// All are judged before any ends; the endings carry the judgement meanwhile.
		for _, i := range level.Actions {
			s.endings[i] = ending(s.judge(i, &r))
		}
		for _, i := range level.Actions {
			s.act(i, gate(s.endings[i]), &r)
		}
	}
}

func (s *State) judge(i int, r *Rules) Gate {
	if r.Refuse != nil && r.Refuse(i) {
		return Blocked
	}
	return r.settle(i, s.Gate(i))
}

// settle takes what is undecided as satisfied, if the rules say so.
func (r *Rules) settle(i int, g Gate) Gate {
	if g == Undecided && r.Undecided != nil && r.Undecided(i) {
		return Open
	}
	return g
}

func (s *State) act(i int, g Gate, r *Rules) {
	switch {
	case g == Blocked:
		s.endings[i] = Rejected
	case g == Undecided:
		s.Cloud(i)
	case r.May != nil && !r.May(i):
		s.endings[i] = Failed
	default:
		s.finish(i, r.settle(i, s.Asserts(i)))
	}
}

// finish ends an action that did what it could; an assertion has still to hold.
func (s *State) finish(i int, holds Gate) {
	switch holds {
	case Blocked:
		s.endings[i] = Failed
	case Undecided:
		s.endings[i] = Clouded
	default:
		s.land(i)
	}
}

func ending(g Gate) Ending {
	return [...]Ending{Blocked: Rejected, Undecided: Clouded, Open: Landed}[g]
}

func gate(e Ending) Gate {
	switch e {
	case Landed:
		return Open
	case Clouded:
		return Undecided
	default:
		return Blocked
	}
}
