package substrate

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"car/internal/engine/tool"
)

// Remove takes away a regular file or an empty folder, after verify agreed to
// what is there: the content of a file, nil for a folder, fs.ErrNotExist where
// nothing is. A link is refused, because what it names is not what would go.
func (f *files) Remove(path string, verify func(now []byte, err error) error) error {
	for range attempts {
		if err := f.removeOnce(path, verify); !errors.Is(err, errMoved) {
			return err
		}
	}
	return moved(path)
}

func (f *files) removeOnce(path string, verify func([]byte, error) error) error {
	p, err := f.resolve(path, false)
	switch {
	case err != nil:
		return err
	case p.door == nil || p.rel == ".":
		return outside(path)
	case p.info == nil:
		return verify(nil, fs.ErrNotExist)
	case !p.info.IsDir() && !p.info.Mode().IsRegular():
		return &tool.Fault{Kind: tool.Unsupported, Text: fmt.Sprintf("%q is %s; only regular files and empty folders are removed", path, kindOf(p.info.Mode()))}
	}
	dir, _, err := openParent(p, false)
	if err != nil {
		return err
	}
	defer dir.Close()
	r := &replacement{files: f, place: p, dir: dir, base: filepath.Base(p.rel)}
	var now []byte
	if !p.info.IsDir() {
		now, err = r.readNow()
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = verify(now, err)
	}
	if err != nil {
		return err
	}
	if err := dir.Remove(r.base); err != nil {
		return r.fault(err)
	}
	return syncDir(dir)
}
