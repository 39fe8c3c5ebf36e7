package verify

import (
	"encoding/json"

	"car/internal/engine/ir"
	"car/internal/engine/verify/report"
)

// Result is what Verify found (V-VERIFY-2). Lists are never null in JSON.
type Result struct {
	// Valid says that no issue is an error. It is no promise beyond the evidence.
	Valid  bool    `json:"valid"`
	Issues []Issue `json:"issues"`
	// SimulatedState is the state after every declared effect, of blocked actions
	// too, without the keys whose value only a run tells. Values are shared with
	// the proposal.
	SimulatedState  map[string]any  `json:"simulated_state"`
	ExecutionLevels [][]ir.ActionID `json:"execution_levels"`
	Conflicts       []Conflict      `json:"conflicts"`
	Evidence        Evidence        `json:"evidence"`
}

// Issue is one finding. ActionID is the action it is about, "proposal" for a loop.
type Issue struct {
	ActionID ir.ActionID         `json:"action_id"`
	Severity report.Severity     `json:"severity"`
	Message  string              `json:"message"`
	Tier     report.Tier         `json:"tier"`
	Check    string              `json:"check"`
	Explain  *report.Explanation `json:"explain,omitempty"`
}

// Conflict is two actions that write one key and that nothing orders. In JSON it is
// the array [first, second, key].
type Conflict struct {
	First, Second ir.ActionID
	Key           string
}

// MarshalJSON writes the array.
func (c Conflict) MarshalJSON() ([]byte, error) {
	return json.Marshal([3]string{string(c.First), string(c.Second), c.Key})
}

// UnmarshalJSON reads the array.
func (c *Conflict) UnmarshalJSON(data []byte) error {
	var parts [3]string
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	*c = Conflict{First: ir.ActionID(parts[0]), Second: ir.ActionID(parts[1]), Key: parts[2]}
	return nil
}

// Evidence is what a verdict stands on and where it ends (V-VERIFY-6..8).
type Evidence struct {
	// Checks holds every row of the check table, in its order.
	Checks      []CheckRecord `json:"checks"`
	Assumptions []string      `json:"assumptions"`
	// UntestedRegions is what only a run tells, sorted.
	UntestedRegions []string `json:"untested_regions"`
	ResidualRisks   []string `json:"residual_risks"`
	// Confidence is coverage from 0 to 1, not a chance of success.
	Confidence float64 `json:"confidence"`
}

// CheckRecord is one check: whether it ran, what a pass of it says and does not say.
type CheckRecord struct {
	Name         string      `json:"name"`
	Ran          bool        `json:"ran"`
	Verifies     string      `json:"verifies"`
	CannotVerify string      `json:"cannot_verify"`
	Findings     int         `json:"findings"`
	Tier         report.Tier `json:"tier"`
}

// Errors are the issues of severity error.
func (r Result) Errors() []Issue {
	return r.having(func(i Issue) bool { return i.Severity == report.Error })
}

// Warnings are the issues of severity warning.
func (r Result) Warnings() []Issue {
	return r.having(func(i Issue) bool { return i.Severity == report.Warning })
}

// WithTier are the issues of one kind of check. It is for triage; a kind is no grade.
func (r Result) WithTier(t report.Tier) []Issue {
	return r.having(func(i Issue) bool { return i.Tier == t })
}

// Blocking are the errors on which a proposal can be refused whatever its tools do
// (V-VERIFY-9): those of every check that does not rest on declared effects or a
// proxy. It goes by the check's name, never by message or tier; an unknown check blocks.
func Blocking(r Result) []Issue {
	return r.having(func(i Issue) bool { return i.Severity == report.Error && !advisory(i.Check) })
}

func (r Result) having(keep func(Issue) bool) []Issue {
	var kept []Issue
	for _, i := range r.Issues {
		if keep(i) {
			kept = append(kept, i)
		}
	}
	return kept
}
