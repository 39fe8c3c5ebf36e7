package ir

import (
	"maps"
	"slices"
)

// ReadKeys are the state keys an action says it reads (E-DAG-1): its read set if
// it gives one, else its state dependencies and the keys it assumes things of;
// and the key of a state_read or assertion. In declared order, each once.
func (a Action) ReadKeys() []string {
	return unique(a.appendReads(nil))
}

// WriteKeys are the state keys an action says it writes (E-DAG-1): its write
// set, the keys of its expected effects and the key of a state_write. Each once.
func (a Action) WriteKeys() []string {
	return unique(a.appendWrites(nil))
}

// StateKey is the key that a state_write, state_read or assertion names in its
// parameters.
func (a Action) StateKey() (string, bool) {
	if a.Type != StateWrite && a.Type != StateRead && a.Type != Assertion {
		return "", false
	}
	key, ok := a.Parameters["key"].(string)
	return key, ok
}

func (a *Action) appendReads(keys []string) []string {
	if len(a.ReadSet) > 0 {
		keys = append(keys, a.ReadSet...)
	} else {
		keys = append(keys, a.StateDependencies...)
		for i := range a.Assumptions {
			keys = append(keys, a.Assumptions[i].Key)
		}
	}
	if key, ok := a.StateKey(); ok && a.Type != StateWrite {
		keys = append(keys, key)
	}
	return keys
}

func (a *Action) appendWrites(keys []string) []string {
	keys = append(keys, a.WriteSet...)
	if len(a.ExpectedEffects) > 0 {
		start := len(keys)
		keys = slices.AppendSeq(keys, maps.Keys(a.ExpectedEffects))
		slices.Sort(keys[start:])
	}
	if key, ok := a.StateKey(); ok && a.Type == StateWrite {
		keys = append(keys, key)
	}
	return keys
}

// unique keeps the first of each key.
func unique(keys []string) []string {
	if len(keys) < 2 {
		return keys
	}
	seen := make(map[string]struct{}, len(keys))
	return slices.DeleteFunc(keys, func(key string) bool {
		_, dup := seen[key]
		seen[key] = struct{}{}
		return dup
	})
}
