package trajectory_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"car/internal/engine/trajectory"
)

func event(kind string, attempted, reused bool) trajectory.Event {
	return trajectory.Event{Kind: kind, Tool: "t", Data: trajectory.Data{Attempted: attempted, Reused: reused}}
}

// E-TRAJ-1, E-TRAJ-2: a line a proposal in its day's file; only what was
// dispatched counts; old days and bad lines are passed over.
func TestFeedback(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "trajectories")
	now := time.Date(2026, 3, 10, 1, 0, 0, 0, time.UTC)
	s := trajectory.Open(dir, func() time.Time { return now })
	for _, day := range []int{0, 2, 40} {
		err := s.Append(trajectory.Trajectory{Timestamp: now.AddDate(0, 0, -day), Events: []trajectory.Event{
			event("succeeded", true, false), event("failed", true, false), event("skipped", true, false),
			event("skipped", false, false), event("rejected", false, false), event("succeeded", false, true),
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	today := filepath.Join(dir, "2026-03-10.jsonl")
	f, err := os.OpenFile(today, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("not json\n{\"torn"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	for days, want := range map[int]trajectory.Rate{0: {}, 1: {Succeeded: 1, Dispatched: 3}, 30: {Succeeded: 2, Dispatched: 6}} {
		rates, err := s.ToolFeedback(days)
		if err != nil || rates["t"] != want {
			t.Errorf("%d days: %+v, %v", days, rates, err)
		}
	}
	if info, err := os.Stat(today); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

// E-TRAJ-2: 1/1 is 0.67, 100/100 is 0.99.
func TestRate(t *testing.T) {
	t.Parallel()
	for r, want := range map[trajectory.Rate]float64{{Succeeded: 1, Dispatched: 1}: 0.67, {Succeeded: 100, Dispatched: 100}: 0.99, {}: 0.5} {
		if math.Abs(r.Value()-want) > 0.005 {
			t.Errorf("%+v: %v", r, r.Value())
		}
	}
}
