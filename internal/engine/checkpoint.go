package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
	"car/internal/engine/jsonl"
)

// Checkpoint is a runtime at a moment between proposals (E-CKPT-1).
type Checkpoint struct {
	ID        string    `json:"checkpoint_id"`
	CreatedAt time.Time `json:"created_at"`
	// State is every key, those of tenants under their full names.
	State map[string]any `json:"state"`
	// Events are the record as it was, for readers; restoring leaves the log alone.
	Events []eventlog.Event `json:"events"`
	// Tools are the names that a model could call, ToolSchemas what it was told of them.
	Tools       []string        `json:"tools"`
	Metadata    map[string]any  `json:"metadata"`
	ToolSchemas []ir.ToolSchema `json:"tool_schemas,omitempty"`
}

// Checkpoint saves the runtime once no proposal that writes is under way. metadata
// is the caller's; nil is none.
func (r *Runtime) Checkpoint(ctx context.Context, metadata map[string]any) (Checkpoint, error) {
	if err := r.turns.take(ctx, true); err != nil {
		return Checkpoint{}, fmt.Errorf("checkpoint: %w", err)
	}
	defer r.turns.give(true)
	events, _, err := r.readLog(eventlog.Query{})
	if err != nil {
		return Checkpoint{}, err
	}
	if metadata == nil {
		metadata = map[string]any{}
	}
	c := Checkpoint{ID: r.cfg.NewID(), CreatedAt: r.cfg.Now().UTC(), State: r.cfg.State.All(), Events: events, Tools: []string{},
		Metadata: metadata, ToolSchemas: r.Schemas()}
	for _, s := range c.ToolSchemas {
		c.Tools = append(c.Tools, s.Name)
	}
	return c, nil
}

// RestoreCheckpoint puts state and tools back, once no proposal is under way, and
// forgets every result that could be given again: what is stale must not answer for
// the state that is restored. Config.Tools has to be a *Toolbox. An error means that
// state and tools are as they were.
func (r *Runtime) RestoreCheckpoint(ctx context.Context, c Checkpoint) error {
	tools, ok := r.cfg.Tools.(*Toolbox)
	if !ok {
		return errors.New("engine: restoring a checkpoint needs Config.Tools to be a *Toolbox")
	}
	if err := r.turns.take(ctx, false); err != nil {
		return fmt.Errorf("restore checkpoint %s: %w", c.ID, err)
	}
	defer r.turns.give(false)
	r.cfg.Idem.Clear() // first: results that are lost are harmless, stale ones are not
	r.cache.Clear()
	if err := r.cfg.State.Replace(c.State); err != nil {
		return fmt.Errorf("restore checkpoint %s: %w", c.ID, err)
	}
	tools.Restore(c.Tools, c.ToolSchemas)
	return nil
}

// Save writes a checkpoint to a file of its owner alone, whole or not at all.
func (c Checkpoint) Save(path string) error {
	text, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("save checkpoint: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".checkpoint-") // 0600
	if err != nil {
		return fmt.Errorf("save checkpoint: %w", err)
	}
	_, err = f.Write(append(text, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("save checkpoint: %w", errors.Join(err, os.Remove(f.Name())))
	}
	if err := jsonl.SyncFolder(filepath.Dir(path)); err != nil {
		return fmt.Errorf("save checkpoint %s: %w", path, err)
	}
	return nil
}

// LoadCheckpoint reads a checkpoint that Save wrote.
func LoadCheckpoint(path string) (Checkpoint, error) {
	var c Checkpoint
	text, err := os.ReadFile(path)
	if err != nil {
		return c, fmt.Errorf("load checkpoint: %w", err)
	}
	var exact struct {
		State json.RawMessage `json:"state"`
	}
	err = json.Unmarshal(text, &exact)
	if err == nil && exact.State != nil { // its numbers must not change by being read
		err = ir.CheckText(exact.State)
	}
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err == nil && c.ID == "" {
		err = errors.New("checkpoint_id is missing")
	}
	if err != nil {
		return Checkpoint{}, fmt.Errorf("load checkpoint %s: %w", path, err)
	}
	return c, nil
}
