package assistant

import (
	"slices"

	"car/internal/assistant/claim"
	"car/internal/engine/ir"
)

// Outcome is how a run ended, with what decides the exit code of the process that
// asked for it (P-TRUE-1, D-22).
type Outcome struct {
	Run int
	// Terminal is the kind of the terminal event; unset before the first run ended.
	Terminal Kind
	// Code is the Failure's.
	Code string
	// Unevaluated is a goal that ended without a verdict.
	Unevaluated bool
	// Refused are the effects that policy, a gate or a person refused and that no
	// later allowed call achieved.
	Refused []Refusal
	// Effects counts the calls with effects of the run, and Achieved those that worked.
	Effects, Achieved int
}

// Refusal is one effect that was not allowed.
type Refusal struct {
	CallID string `json:"call_id"`
	Tool   string `json:"tool"`
	// Brief is the argument that matters, Reason why it was refused.
	Brief  string `json:"brief"`
	Reason string `json:"reason"`

	path, params string
}

// ExitCode is what an outcome is worth at the door (U-CLI-3, A-CLI-2).
func ExitCode(o Outcome) int {
	switch o.Terminal {
	case KindDone:
		switch {
		case o.Unevaluated:
			return ExitUnverified
		case len(o.Refused) > 0:
			return ExitRefused
		default:
			return ExitDone
		}
	case KindAuthRequired:
		return ExitAuth
	case KindError:
		return exitOf(o.Code)
	default:
		return ExitFailed
	}
}

// outcome sums the run up.
func (r *run) outcome(end Body) Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := Outcome{Run: r.number, Terminal: end.Kind(), Refused: slices.Clone(r.refusals)}
	for _, rc := range r.receipts {
		if rc.Effect != claim.Read {
			o.Effects++
			if rc.OK {
				o.Achieved++
			}
		}
	}
	switch end := end.(type) {
	case Done:
		o.Unevaluated = end.GoalUnevaluated
	case Failure:
		o.Code = end.Code
	}
	return o
}

// settleRefusals notes a refused effect, and forgets those that this call achieved.
// r.mu is held.
func (r *run) settleRefusals(c *call, res ir.ActionResult, rc claim.Receipt) {
	if c.tool.ReadOnly {
		return
	}
	path, _ := c.params["path"].(string)
	params := ""
	if digest, err := ir.DigestOf(c.params); err == nil {
		params = string(digest)
	}
	if res.Status == ir.Rejected && res.ErrorClass == ir.ClassRejectedByPolicy {
		r.refusals = append(r.refusals, Refusal{CallID: c.ID, Tool: c.Name, Brief: rc.Brief, Reason: clip(r.c.svc.lens.text(res.Error), excerptRunes),
			path: path, params: params})
		return
	}
	if !rc.OK {
		return
	}
	r.refusals = slices.DeleteFunc(r.refusals, func(f Refusal) bool {
		return f.Tool == c.Name && f.params == params ||
			f.path != "" && (f.path == path || slices.Contains(rc.Changed, f.path))
	})
}
