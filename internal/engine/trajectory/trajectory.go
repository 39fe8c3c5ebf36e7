package trajectory

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"car/internal/engine/ir"
)

// Outcome is what a proposal came to; its text is wire.
type Outcome string

// The outcomes (E-TRAJ-1).
const (
	Success         Outcome = "success"
	Failed          Outcome = "failed"
	ReplanSuccess   Outcome = "replan_success"
	ReplanExhausted Outcome = "replan_exhausted"
)

// Trajectory is one proposal's line (E-TRAJ-1).
type Trajectory struct {
	ProposalID     ir.ProposalID `json:"proposal_id"`
	Source         string        `json:"source"`
	ActionCount    int           `json:"action_count"`
	Events         []Event       `json:"events"`
	Outcome        Outcome       `json:"outcome"`
	Timestamp      time.Time     `json:"timestamp"`
	DurationMS     int64         `json:"duration_ms"`
	ReplanAttempts int           `json:"replan_attempts"`
}

// Event is one action of a trajectory. Reward is 1 for a success, 0 for a failure
// or refusal, and nil for what was skipped.
type Event struct {
	Kind        string         `json:"kind"`
	ActionID    ir.ActionID    `json:"action_id"`
	Tool        string         `json:"tool"`
	Data        Data           `json:"data"`
	DurationMS  int64          `json:"duration_ms"`
	StateBefore map[string]any `json:"state_before,omitempty"`
	StateAfter  map[string]any `json:"state_after,omitempty"`
	Reward      *float64       `json:"reward,omitempty"`
}

// Data says what an event has beyond its kind. Attempted tells a call that was
// dispatched from one that was not.
type Data struct {
	Error     string `json:"error,omitempty"`
	Attempted bool   `json:"attempted,omitempty"`
	Reused    bool   `json:"reused,omitempty"`
}

// Store appends to and reads the files of a folder. Safe for concurrent use.
type Store struct {
	dir string
	now func() time.Time
	mu  sync.Mutex
}

// Open makes a store over a folder, which is made when first written.
func Open(dir string, now func() time.Time) *Store { return &Store{dir: dir, now: now} }

const dayFormat = "2006-01-02"

// Append writes a line to the file of its day.
func (s *Store) Append(t Trajectory) error {
	line, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("trajectory: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("trajectory: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(s.dir, t.Timestamp.UTC().Format(dayFormat)+".jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("trajectory: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// Rate is how often a tool succeeded of the times it was dispatched.
type Rate struct {
	Succeeded  int
	Dispatched int
}

// Value is the Laplace estimate (succeeded+1)/(dispatched+2) (E-TRAJ-2).
func (r Rate) Value() float64 { return float64(r.Succeeded+1) / float64(r.Dispatched+2) }

// ToolFeedback counts the dispatched calls of the last days; 0 is off. Files that
// are older are not opened, lines that cannot be read are passed over.
func (s *Store) ToolFeedback(days int) (map[string]Rate, error) {
	rates := map[string]Rate{}
	today := s.now().UTC()
	for back := range days {
		day := today.AddDate(0, 0, -back).Format(dayFormat)
		if err := s.count(filepath.Join(s.dir, day+".jsonl"), rates); err != nil {
			return nil, err
		}
	}
	return rates, nil
}

func (s *Store) count(path string, rates map[string]Rate) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("trajectory: %w", err)
	}
	defer f.Close()
	in := bufio.NewReader(f)
	for {
		line, err := in.ReadBytes('\n')
		var t Trajectory
		if json.Unmarshal(line, &t) == nil {
			t.count(rates)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("trajectory: %w", err)
		}
	}
}

// count adds the calls that were really dispatched: succeeded, failed, and
// skipped after an attempt; not what was refused, reused or never started.
func (t Trajectory) count(rates map[string]Rate) {
	for _, e := range t.Events {
		if e.Tool == "" || e.Data.Reused || !e.Data.Attempted {
			continue
		}
		r := rates[e.Tool]
		r.Dispatched++
		if e.Kind == ir.Succeeded.String() {
			r.Succeeded++
		}
		rates[e.Tool] = r
	}
}
