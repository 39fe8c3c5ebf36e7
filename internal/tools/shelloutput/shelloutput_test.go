package shelloutput

import (
	"strings"
	"testing"
	"time"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/tooltest"
)

func bound() tool.Tool { return New(tool.Bindings{Describe: tool.Description{Dialect: "bash"}}) }

func houseWithJobs(t *testing.T) (*tooltest.House, *tooltest.Jobs) {
	h := tooltest.Open(t, time.Now)
	long := strings.Repeat("x", 20<<10)
	jobs := &tooltest.Jobs{Known: []tool.JobOutput{
		{Job: tool.Job{ID: "j1", Command: "serve\n&& more", Running: true, Total: 6, Duration: 1500 * time.Millisecond}, Text: "ready\n"},
		{Job: tool.Job{ID: "j2", Command: "make", Code: 2, Signal: "", Total: int64(len(long))}, Text: long},
		{Job: tool.Job{ID: "j3", Command: "gone", Err: "no shell"}},
		{Job: tool.Job{ID: "j4", Command: "cut", Total: 4}, Text: "abcd", From: 2},
	}}
	h.Jobs = jobs
	return h, jobs
}

func TestSuite(t *testing.T) {
	t.Parallel()
	h, _ := houseWithJobs(t)
	tooltest.Suite(t, tooltest.Case{
		Tool: bound(), House: h,
		Good: []map[string]any{{}, {"job_id": "j1"}, {"job_id": "j2", "since": 3.0, "wait_secs": 1.0}},
		Bad:  []map[string]any{{"job_id": 1.0}, {"job_id": "j1", "since": -1.0}, {"job_id": "j1", "wait_secs": 61.0}, {"since": 1.0}},
	})
	if New(tool.Bindings{}) != nil {
		t.Error("advertised without a shell")
	}
}

// T-SHELL-10, T-REND-2: a running job has no exit code, an ended one has; one that never
// ran says why.
func TestStates(t *testing.T) {
	t.Parallel()
	h, jobs := houseWithJobs(t)
	out := h.Must(t, bound(), map[string]any{"job_id": "j1", "wait_secs": 7.0})
	if _, has := out["exit_code"]; has || out["status"] != "running" || out["output"] != "ready\n" || out["duration_ms"] != 1500.0 || jobs.Waited != 7*time.Second {
		t.Errorf("got %v after %v", out, jobs.Waited)
	}
	if out := h.Must(t, bound(), map[string]any{"job_id": "j2"}); out["exit_code"] != 2.0 || out["status"] != "exited" || out["command"] != "make" {
		t.Errorf("got %v", out["exit_code"])
	}
	if out := h.Must(t, bound(), map[string]any{"job_id": "j3"}); out["status"] != "failed" || out["error"] != "no shell" || out["exit_code"] != nil {
		t.Errorf("got %v", out)
	}
	h.Fails(t, bound(), map[string]any{"job_id": "j9"}, tool.NotFound, "j9")
}

// B075, D-37: output is read in pieces that say where the next begins; a gap is told.
func TestPieces(t *testing.T) {
	t.Parallel()
	h, _ := houseWithJobs(t)
	var got int
	for since := 0.0; ; {
		out := h.Must(t, bound(), map[string]any{"job_id": "j2", "since": since})
		got += len(out["output"].(string))
		since = out["next_since"].(float64)
		if out["truncated"] == nil {
			break
		}
	}
	if got != 20<<10 {
		t.Errorf("read %d bytes", got)
	}
	if out := h.Must(t, bound(), map[string]any{"job_id": "j4", "since": 0.0}); out["note"] != "bytes 0 to 2 are no longer kept" || out["output"] != "cd" {
		t.Errorf("got %v", out)
	}
	if out := h.Must(t, bound(), map[string]any{"job_id": "j1", "since": 99.0}); out["note"] != "there are only 6 bytes so far" {
		t.Errorf("got %v", out)
	}
}

// T-SHELL-10: without an id the jobs are listed, for the model and for a person.
func TestList(t *testing.T) {
	t.Parallel()
	h, _ := houseWithJobs(t)
	ran, err := h.Run(t.Context(), bound(), map[string]any{})
	if err != nil {
		t.Fatal(err)
	}
	if jobs := ran.Output.(map[string]any)["jobs"].([]any); len(jobs) != 4 {
		t.Errorf("got %v", jobs)
	}
	want := "j1 running, 1.5s: serve…\nj2 exited 2, 0s: make"
	if b := ran.Blocks; len(b) != 1 || b[0].Kind != ir.BlockText || !strings.HasPrefix(b[0].Text, want) {
		t.Errorf("got %+v", b)
	}
	h.Jobs = nil
	h.Fails(t, bound(), map[string]any{}, tool.Unsupported, "no background jobs")
}
