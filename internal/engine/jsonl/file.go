package jsonl

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// File is an open file of lines. Its user serialises the calls.
type File struct {
	path string
	file *os.File
	size int64
	// lines counts the whole lines in the file.
	lines int
	// broken is why the file can not be written any more.
	broken     error
	syncFolder func(folder string) error
}

// Open opens or makes a file, with its folders. Call Scan before the first Append.
func Open(path string) (*File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	file, err := openAppending(path, 0)
	if err != nil {
		return nil, err
	}
	return &File{path: path, file: file, syncFolder: SyncFolder}, nil
}

// SyncsFoldersWith has Replace flush folders by another function than SyncFolder.
func (f *File) SyncsFoldersWith(sync func(folder string) error) { f.syncFolder = sync }

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

// Path is where the file is.
func (f *File) Path() string { return f.path }

// Lines counts the whole lines in the file.
func (f *File) Lines() int { return f.lines }

// Scan calls each for every line, without its end, and cuts a torn last one off.
// It returns how many bytes that one had. An error names the line, from 1.
func (f *File) Scan(each func(index int, line []byte) error) (torn int, err error) {
	if _, err := f.file.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	f.lines, f.size = 0, 0
	torn, err = scanLines(f.file, func(index int, line []byte) error {
		f.lines++
		f.size += int64(len(line)) + 1
		return each(index, line)
	})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", f.path, err)
	}
	if torn > 0 {
		err = f.file.Truncate(f.size)
	}
	return torn, err
}

// Append writes one line, its end included, with one write(2). A line that went
// out in part is taken back; if even that fails, nothing more is written behind it.
// It does not wait for the disk.
func (f *File) Append(line []byte) error {
	if f.broken != nil {
		return f.broken
	}
	if len(line) > maxLine {
		return fmt.Errorf("%d bytes, more than fits in a record of %d", len(line), maxLine)
	}
	n, err := f.file.Write(line)
	if err == nil {
		f.size += int64(n)
		f.lines++
		return nil
	}
	if n > 0 {
		f.cutTo(f.size)
	}
	return err
}

// cutTo takes back what stands behind a size.
func (f *File) cutTo(size int64) {
	if err := f.file.Truncate(size); err != nil {
		f.broken = fmt.Errorf("%s ends in a record that does not count and takes no more: %w", f.path, err)
	}
}

// Publish writes one line and waits until it is on disk. published says that it is
// in force; otherwise it was taken back. An error with it means that the folder
// could not be flushed, so that a power cut may still lose the file's name.
func (f *File) Publish(line []byte) (published bool, err error) {
	size := f.size
	if err := f.Append(line); err != nil {
		return false, err
	}
	if err := f.file.Sync(); err != nil {
		f.cutTo(size)
		f.size, f.lines = size, f.lines-1
		return false, err
	}
	return true, f.syncFolder(filepath.Dir(f.path))
}

// Sync waits until the lines are on disk.
func (f *File) Sync() error { return f.file.Sync() }

// Close closes the file; it does not wait for the disk.
func (f *File) Close() error { return f.file.Close() }
