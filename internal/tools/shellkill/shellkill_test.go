package shellkill

import (
	"testing"
	"time"

	"car/internal/engine/tool"
	"car/internal/tools/tooltest"
)

func bound() tool.Tool { return New(tool.Bindings{Describe: tool.Description{Dialect: "bash"}}) }

func houseWithJobs(t *testing.T) *tooltest.House {
	h := tooltest.Open(t, time.Now)
	h.Jobs = &tooltest.Jobs{Known: []tool.JobOutput{
		{Job: tool.Job{ID: "j1", Running: true, Duration: time.Second}}, {Job: tool.Job{ID: "j2", Code: 7}},
	}}
	return h
}

func TestSuite(t *testing.T) {
	t.Parallel()
	tooltest.Suite(t, tooltest.Case{
		Tool: bound(), House: houseWithJobs(t), Good: []map[string]any{{"job_id": "j1"}},
		Bad: []map[string]any{{}, {"job_id": ""}, {"job_id": 1.0}},
	})
	if New(tool.Bindings{}) != nil {
		t.Error("advertised without a shell")
	}
}

// T-SHELL-10: a job that runs is killed; one that had ended keeps its exit code and says so.
func TestKill(t *testing.T) {
	t.Parallel()
	h := houseWithJobs(t)
	if out := h.Must(t, bound(), map[string]any{"job_id": "j1"}); out["status"] != "killed" || out["exit_code"] != nil || out["duration_ms"] != 1000.0 {
		t.Errorf("got %v", out)
	}
	if out := h.Must(t, bound(), map[string]any{"job_id": "j2"}); out["status"] != "exited" || out["exit_code"] != 7.0 || out["note"] == nil {
		t.Errorf("got %v", out)
	}
	h.Fails(t, bound(), map[string]any{"job_id": "j9"}, tool.NotFound, "j9")
	h.Jobs = nil
	h.Fails(t, bound(), map[string]any{"job_id": "j1"}, tool.Unsupported, "no background jobs")
}
