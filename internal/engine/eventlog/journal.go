package eventlog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// journal is the JSONL file under a log. Its user serialises the calls.
type journal struct {
	path string
	file *os.File
	size int64
	// lines counts the records in the file, those that retention dropped from memory included.
	lines int
	// broken is why the file can not be written any more.
	broken error
	// shrinkErr is why retention could not rewrite the file, nextRewrite the number
	// of lines at which it tries again.
	shrinkErr   error
	nextRewrite int
}

func openJournal(path string) (*journal, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	file, err := openAppending(path, 0)
	if err != nil {
		return nil, err
	}
	return &journal{path: path, file: file}, nil
}

// openAppending opens a record for one owner, whatever its mode was.
func openAppending(path string, flags int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND|flags, 0o600)
	if err != nil {
		return nil, err
	}
	if err := ownFile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// ownFile leaves devices and pipes alone: their mode is not ours to change, and
// they give nothing back.
func ownFile(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", file.Name())
	}
	return file.Chmod(0o600)
}

// scan calls each for every record and cuts a torn last line off the file. It
// returns how many bytes that line had.
func (j *journal) scan(each func(index int, line []byte) error) (torn int, err error) {
	if _, err := j.file.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	j.lines = 0
	torn, err = scanLines(j.file, func(index int, line []byte) error {
		j.lines++
		j.size += int64(len(line)) + 1
		return each(index, line)
	})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", j.path, err)
	}
	if torn > 0 {
		err = j.file.Truncate(j.size)
	}
	return torn, err
}

// append writes one line with one write(2). A line that went out in part is taken
// back; if even that fails, nothing more is written behind it.
func (j *journal) append(line []byte) error {
	if j.broken != nil {
		return j.broken
	}
	if len(line) > maxLine {
		return fmt.Errorf("%d bytes, more than fits in a record of %d", len(line), maxLine)
	}
	n, err := j.file.Write(line)
	if err == nil {
		j.size += int64(n)
		j.lines++
		return nil
	}
	if n > 0 {
		if undo := j.file.Truncate(j.size); undo != nil {
			j.broken = fmt.Errorf("%s ends in part of a record and takes no more: %w", j.path, undo)
		}
	}
	return err
}

func (j *journal) sync() error  { return errors.Join(j.file.Sync(), j.shrinkErr) }
func (j *journal) close() error { return j.file.Close() }

// scanLines calls each for every line that ends in a newline, without it, and
// returns the number of bytes behind the last. An error names the line, from 1.
func scanLines(r io.Reader, each func(index int, line []byte) error) (torn int, err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	for index := 0; ; index++ {
		line, err := readLine(in)
		if errors.Is(err, io.EOF) {
			return len(line), nil
		}
		if err == nil {
			err = each(index, line)
		}
		if err != nil {
			return 0, fmt.Errorf("line %d: %w", index+1, err)
		}
	}
}

// readLine reads to the next newline and leaves it out; io.EOF comes with the
// bytes that no newline ends.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("longer than %d bytes", maxLine)
		}
		if err == nil {
			return bytes.TrimSuffix(line, []byte{'\n'}), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}
