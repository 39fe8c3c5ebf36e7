package ir

import "reflect"

// checkProposal and checkAction are checkReflect for the two types whose digests
// are taken all the time; a test holds that they miss no field.

func checkProposal(p *Proposal, depth int) *PathError {
	if e := checkString(string(p.ID)); e != nil {
		return e.in("id")
	}
	if e := checkString(p.Source); e != nil {
		return e.in("source")
	}
	if _, err := p.Timestamp.MarshalText(); err != nil {
		return (&PathError{Problem: err.Error()}).in("timestamp")
	}
	if e := checkMap(p.Context, depth+1); e != nil {
		return e.in("context")
	}
	if depth+2 > maxDepth {
		return tooDeep()
	}
	for i := range p.Actions {
		if e := checkAction(&p.Actions[i], depth+2); e != nil {
			return e.at(i).in("actions")
		}
	}
	return nil
}

func checkAction(a *Action, depth int) *PathError {
	if depth > maxDepth {
		return tooDeep()
	}
	if e := checkString(string(a.ID)); e != nil {
		return e.in("id")
	}
	if e := checkString(a.Tool); e != nil {
		return e.in("tool")
	}
	for _, m := range [...]struct {
		name  string
		value map[string]any
	}{{"parameters", a.Parameters}, {"expected_effects", a.ExpectedEffects}, {"metadata", a.Metadata}} {
		if e := checkMap(m.value, depth+1); e != nil {
			return e.in(m.name)
		}
	}
	for _, l := range [...]struct {
		name   string
		values []string
	}{{"state_dependencies", a.StateDependencies}, {"read_set", a.ReadSet}, {"write_set", a.WriteSet}} {
		if e := checkStrings(l.values, depth+1); e != nil {
			return e.in(l.name)
		}
	}
	if e := checkStrings(a.Dependencies, depth+1); e != nil {
		return e.in("dependencies")
	}
	if e := checkStrings(a.After, depth+1); e != nil {
		return e.in("after")
	}
	if a.TimeoutMS > maxExactInteger {
		return (&PathError{Problem: "more than 2^53-1 milliseconds"}).in("timeout_ms")
	}
	return checkActionParts(a, depth)
}

// checkActionParts checks what an action often has none of.
func checkActionParts(a *Action, depth int) *PathError {
	if len(a.Preconditions) > 0 {
		if e := checkReflect(reflect.ValueOf(a.Preconditions), depth); e != nil {
			return e.in("preconditions")
		}
	}
	if len(a.Assumptions) > 0 {
		if e := checkReflect(reflect.ValueOf(a.Assumptions), depth); e != nil {
			return e.in("assumptions")
		}
	}
	if a.Compensation != nil {
		return checkReflect(reflect.ValueOf(a.Compensation), depth).in("compensation")
	}
	return nil
}

func checkStrings[S ~string](values []S, depth int) *PathError {
	if depth > maxDepth && len(values) > 0 {
		return tooDeep()
	}
	for i, s := range values {
		if e := checkString(string(s)); e != nil {
			return e.at(i)
		}
	}
	return nil
}
