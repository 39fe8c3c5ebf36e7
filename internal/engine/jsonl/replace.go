package jsonl

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Replace puts another content in the file's place, atomically: fill writes whole
// lines and may read the old file from its beginning. published says that the new
// content is in force, in this process and for whoever opens the file; an error
// with it means that a power cut may still bring the old one back.
func (f *File) Replace(fill func(next io.Writer, old io.Reader) error) (published bool, err error) {
	temp := f.path + ".tmp"
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	file, err := openAppending(temp, os.O_EXCL)
	if err != nil {
		return false, err
	}
	next := &counter{w: bufio.NewWriterSize(file, 64<<10)}
	if _, err = f.file.Seek(0, io.SeekStart); err == nil {
		err = fill(next, f.file)
	}
	if err = errors.Join(err, next.w.Flush()); err == nil {
		err = file.Sync()
	}
	if err == nil {
		err = os.Rename(temp, f.path)
	}
	if err != nil {
		return false, errors.Join(err, file.Close(), os.Remove(temp))
	}
	old := f.file
	f.file, f.size, f.lines, f.broken = file, next.size, next.lines, nil
	return true, errors.Join(old.Close(), f.syncFolder(filepath.Dir(f.path)))
}

// counter counts what goes through it.
type counter struct {
	w     *bufio.Writer
	size  int64
	lines int
}

// Write passes on.
func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.size += int64(n)
	c.lines += bytes.Count(p[:n], []byte{'\n'})
	return n, err
}

// CopyBehind copies the lines behind the first n as they stand.
func CopyBehind(to io.Writer, from io.Reader, n int) error {
	in := bufio.NewReaderSize(from, 64<<10)
	for i := range n {
		if _, err := readLine(in); err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	_, err := io.Copy(to, in)
	return err
}

// SyncFolder waits until a folder's names are on disk.
func SyncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
