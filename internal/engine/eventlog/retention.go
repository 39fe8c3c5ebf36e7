package eventlog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// A file is rewritten when it has this many lines too many and would shrink by a
// quarter at least, so that rewriting stays rare (E-LOG-2).
const rewriteSlack = 1024

// trim drops what retention no longer keeps. The caller holds mu.
func (l *Log) trim(now time.Time) {
	drop := 0
	if l.cfg.MaxEvents > 0 {
		drop = max(0, len(l.events)-l.cfg.MaxEvents)
	}
	if l.cfg.MaxAge > 0 {
		oldest := now.Add(-l.cfg.MaxAge)
		for drop < len(l.events) && l.events[drop].Timestamp.Before(oldest) {
			drop++
		}
	}
	l.events = l.events[drop:]
	if l.file != nil {
		l.file.keep(len(l.events))
	}
}

// keep shrinks the file to its last n lines when that is worth it. The record is
// whole either way, so a failure does not undo an Append: it is told by Sync and
// Close, and tried again after as many lines more.
func (j *journal) keep(n int) {
	excess := j.lines - n
	if excess < rewriteSlack || excess*4 < j.lines || j.lines < j.nextRewrite {
		return
	}
	if err := j.dropFront(excess); err != nil {
		j.nextRewrite = j.lines + rewriteSlack
		j.shrinkErr = fmt.Errorf("shrink %s: %w", j.path, err)
		return
	}
	j.shrinkErr = nil
}

// dropFront replaces the file by one without its first n lines, atomically.
func (j *journal) dropFront(n int) error {
	temp := j.path + ".tmp"
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	next, err := openAppending(temp, os.O_EXCL)
	if err != nil {
		return err
	}
	size, err := copyBehind(next, j.file, n)
	if err == nil {
		err = next.Sync()
	}
	if err == nil {
		err = os.Rename(temp, j.path)
	}
	if err != nil {
		return errors.Join(err, next.Close(), os.Remove(temp))
	}
	old := j.file
	j.file, j.size, j.lines = next, size, j.lines-n
	return errors.Join(old.Close(), syncFolder(j.path))
}

// copyBehind copies a file's lines behind the first n as they stand.
func copyBehind(to io.Writer, from io.ReadSeeker, n int) (int64, error) {
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	in := bufio.NewReaderSize(from, 64<<10)
	for i := range n {
		if _, err := readLine(in); err != nil {
			return 0, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return io.Copy(to, in)
}

func syncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
