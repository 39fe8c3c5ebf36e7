package eventlog

import (
	"errors"
	"fmt"
	"io"

	"car/internal/engine/jsonl"
)

// journal is the JSONL file under a log. Its user serialises the calls.
type journal struct {
	*jsonl.File
	// shrinkErr is why retention could not rewrite the file, nextRewrite the number
	// of lines at which it tries again.
	shrinkErr   error
	nextRewrite int
}

func openJournal(path string) (*journal, error) {
	file, err := jsonl.Open(path)
	if err != nil {
		return nil, err
	}
	return &journal{File: file}, nil
}

func (j *journal) sync() error { return errors.Join(j.Sync(), j.shrinkErr) }

// A file is rewritten when it has this many lines too many and would shrink by a
// quarter at least, so that rewriting stays rare (E-LOG-2).
const rewriteSlack = 1024

// keep shrinks the file to its last n lines when that is worth it; before is
// called just before that. The record is whole either way, so a failure does not
// undo an Append: it is told by Sync and Close, and tried again after as many
// lines more.
func (j *journal) keep(n int, before func() error) {
	excess := j.Lines() - n
	if excess < rewriteSlack || excess*4 < j.Lines() || j.Lines() < j.nextRewrite {
		return
	}
	err := before()
	if err == nil {
		_, err = j.Replace(func(next io.Writer, old io.Reader) error { return jsonl.CopyBehind(next, old, excess) })
	}
	j.shrinkErr = nil
	if err != nil {
		j.nextRewrite = j.Lines() + rewriteSlack
		j.shrinkErr = fmt.Errorf("shrink %s: %w", j.Path(), err)
	}
}
