package montecarlo

import (
	"slices"
)

// History is what earlier runs tell of how tools fare (V-MC-6). Reading it is the
// caller's business.
type History struct {
	// WindowDays is how far back it goes; 0 is no history.
	WindowDays int
	// Trajectories is how many runs it was read from.
	Trajectories int
	Counts       map[string]Count
}

// Count is how often a tool was dispatched and how often it succeeded.
type Count struct {
	Succeeded  int `json:"succeeded"`
	Dispatched int `json:"dispatched"`
}

// The sources of a rate.
const (
	FromCaller       = "caller"
	FromTrajectories = "trajectories"
	FromDefault      = "default"
)

// Provenance says where the rates of a run came from.
type Provenance struct {
	WindowDays            int        `json:"window_days"`
	TrajectoriesAvailable int        `json:"trajectories_available"`
	OverriddenByCaller    []string   `json:"overridden_by_caller"`
	Tools                 []ToolRate `json:"tools"`
}

// ToolRate is one tool's rate; the counts are null where no history tells them.
type ToolRate struct {
	Tool       string  `json:"tool"`
	Rate       float64 `json:"rate"`
	Source     string  `json:"source"`
	Succeeded  *int    `json:"succeeded"`
	Dispatched *int    `json:"dispatched"`
}

// ResolveRates settles the rate of each of some tools: the caller's where given, else
// (succeeded+1)/(dispatched+2) where there is history, else the default. Rates are
// clamped to 0..1. Tools come out sorted, each once.
func ResolveRates(tools []string, h History, overrides map[string]float64, byDefault float64) Provenance {
	p := Provenance{WindowDays: h.WindowDays, TrajectoriesAvailable: h.Trajectories, OverriddenByCaller: []string{}, Tools: []ToolRate{}}
	for _, tool := range slices.Compact(slices.Sorted(slices.Values(tools))) {
		r := ToolRate{Tool: tool, Rate: clamp(byDefault), Source: FromDefault}
		if c, ok := h.Counts[tool]; ok && c.Dispatched > 0 {
			r.Source, r.Rate = FromTrajectories, clamp(float64(c.Succeeded+1)/float64(c.Dispatched+2))
			r.Succeeded, r.Dispatched = &c.Succeeded, &c.Dispatched
		}
		if rate, ok := overrides[tool]; ok {
			if r.Source == FromTrajectories {
				p.OverriddenByCaller = append(p.OverriddenByCaller, tool)
			}
			r.Source, r.Rate = FromCaller, clamp(rate)
		}
		p.Tools = append(p.Tools, r)
	}
	return p
}

// Rates are the provenance's rates by tool.
func (p Provenance) Rates() map[string]float64 {
	rates := make(map[string]float64, len(p.Tools))
	for _, t := range p.Tools {
		rates[t.Tool] = t.Rate
	}
	return rates
}

func clamp(rate float64) float64 { return max(0, min(1, rate)) }
