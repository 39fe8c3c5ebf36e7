package tooltest

import (
	"context"
	"slices"
	"time"

	"car/internal/engine/tool"
)

// Jobs are background commands as a test wants them: Job and its Text by id. Killing
// one ends it. For one goroutine.
type Jobs struct {
	Known []tool.JobOutput
	// Waited is how long Await was asked to wait.
	Waited time.Duration
}

var _ tool.Jobs = (*Jobs)(nil)

func (j *Jobs) find(id string) (*tool.JobOutput, error) {
	i := slices.IndexFunc(j.Known, func(o tool.JobOutput) bool { return o.Job.ID == id })
	if i < 0 {
		return nil, &tool.Fault{Kind: tool.NotFound, Text: "no job " + id}
	}
	return &j.Known[i], nil
}

// List is every job.
func (j *Jobs) List() []tool.Job {
	var list []tool.Job
	for _, o := range j.Known {
		list = append(list, o.Job)
	}
	return list
}

// Read returns the text of a job from since on.
func (j *Jobs) Read(id string, since int64, limit int) (tool.JobOutput, error) {
	known, err := j.find(id)
	if err != nil {
		return tool.JobOutput{}, err
	}
	o := *known
	if since < 0 {
		since = max(0, int64(len(o.Text)-limit))
	}
	o.From = max(o.From, min(since, int64(len(o.Text))))
	o.Next = min(o.From+int64(limit), int64(len(o.Text)))
	o.Text = o.Text[o.From:o.Next]
	return o, nil
}

// Await answers at once.
func (j *Jobs) Await(_ context.Context, id string, limit time.Duration) (tool.Job, error) {
	j.Waited = limit
	o, err := j.find(id)
	if err != nil {
		return tool.Job{}, err
	}
	return o.Job, nil
}

// Kill ends a job.
func (j *Jobs) Kill(_ context.Context, id string) (tool.Job, error) {
	o, err := j.find(id)
	if err != nil {
		return tool.Job{}, err
	}
	o.Job.Killed = o.Job.Killed || o.Job.Running
	o.Job.Running = false
	return o.Job, nil
}
