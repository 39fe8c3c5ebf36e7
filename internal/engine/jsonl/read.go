package jsonl

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxLine bounds one record on disk, so that no file makes a reader hold it all.
const maxLine = 64 << 20

// Each calls each for every whole line of a file that another process may be
// writing. Bytes behind the last line's end are left out. An error names file and line.
func Each(path string, each func(index int, line []byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := scanLines(file, each); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

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
