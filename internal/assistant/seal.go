package assistant

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"car/internal/engine/ir"
)

// seal is the state of a goal's check: the files that its command names, and the
// test files of the workspace (A-GOAL-10, D-29). The command itself cannot change
// in a run, nor can its environment: no call can set either.
type seal struct {
	files map[string]sealed
	// led are the files that the named ones and the programs lead to: to change them
	// may be the work, so a change is said and forbids nothing.
	led   map[string]ir.Digest
	tests testFiles
	// made are files that the check itself made when it ran.
	made map[string]bool
}

// sealed is one file at one time; a file that is too large has no text.
type sealed struct {
	digest ir.Digest
	text   string
}

// sealNow reads what the goal's check stands on.
func (p *pursuit) sealNow() *seal {
	c := p.r.c
	return takeSeal(reader{files: c.runtime.Files, root: c.opts.Root, dialect: c.svc.cfg.Dialect}, p.check)
}

// takeSeal reads the files that a check names, and those that these lead to.
func takeSeal(r reader, check string) *seal {
	s := &seal{files: map[string]sealed{}, led: map[string]ir.Digest{}, made: map[string]bool{}}
	if r.files == nil {
		return s
	}
	names := r.named(check)
	for _, name := range names {
		s.add(r.files, name)
	}
	for _, name := range r.led(check, names) {
		if _, named := s.files[name]; named {
			continue
		}
		if content, err := fs.ReadFile(r.files, name); err == nil {
			s.led[name] = ir.DigestBytes(content)
		}
	}
	return s
}

func (s *seal) add(files fs.FS, name string) {
	info, err := fs.Stat(files, name)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	content, err := fs.ReadFile(files, name)
	if err != nil {
		return
	}
	f := sealed{digest: ir.DigestBytes(content)}
	if len(content) <= goalFileBytes && !bytes.ContainsRune(content, 0) {
		f.text = string(content)
	}
	s.files[name] = f
}

// stable is the seal without what the check itself changed from one to the other.
func (s *seal) stable(after *seal) *seal {
	for name, f := range s.files {
		if after.files[name].digest != f.digest {
			delete(s.files, name)
			s.made[name] = true
		}
	}
	maps.DeleteFunc(s.led, func(name string, was ir.Digest) bool { return after.led[name] != was })
	s.ran(s, after)
	return s
}

// ran notes what the check made while it ran, which is no doing of the agent.
func (s *seal) ran(before, after *seal) {
	for name := range after.files {
		if _, there := before.files[name]; !there {
			s.made[name] = true
		}
	}
}

// appeared lists files that the check names, that were not there at the start and
// that something else than the check made: who wrote the check after the goal was
// set has not met it.
func (s *seal) appeared(now *seal) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(now.files)) {
		if _, there := s.files[name]; !there && !s.made[name] {
			names = append(names, name)
		}
	}
	return names
}

// strayed lists the files that the check leads to and that are not what they were.
func (s *seal) strayed(now *seal) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s.led)) {
		if now.led[name] != s.led[name] {
			names = append(names, name)
		}
	}
	return names
}

// altered is the difference of the watched files, as a diff that a person reads;
// empty when nothing changed.
func (s *seal) altered(now *seal) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		was, is := s.files[name], now.files[name]
		switch {
		case was.digest == is.digest:
		case is.digest == "":
			fmt.Fprintf(&b, "%s is gone\n", name)
		case was.text == "" || is.text == "":
			fmt.Fprintf(&b, "%s changed (%s to %s)\n", name, was.digest[:12], is.digest[:12])
		default:
			b.WriteString(udiff.Unified("a/"+name, "b/"+name, was.text, is.text))
		}
	}
	return b.String()
}

var errTooMany = errors.New("more files than a goal looks at")

// testFiles are digests by path.
type testFiles map[string]ir.Digest

// testName is how languages name their test files.
var testName = regexp.MustCompile(`_test\.(?:go|py|rb|exs|dart|cc|cpp)$|^test_.*\.py$|(?:_|\.)(?:spec|test)s?\.(?:[cm]?[jt]sx?|rb|php|lua)$|(?:Test|Tests|Spec|IT)\.(?:java|kt|scala|cs|swift|php)$`)

// skippedFolders hold other people's tests.
var skippedFolders = []string{".git", "node_modules", "vendor", "target", "dist", "build", ".venv", "venv", "third_party"}

// takeTests lists the test files of a workspace; nil when there are more files than
// it looks at, or they cannot be read: then nothing is said of them.
func takeTests(files fs.FS) testFiles {
	if files == nil {
		return nil
	}
	found, seen := testFiles{}, 0
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if seen++; seen > goalFiles {
			return errTooMany
		}
		if d.IsDir() && slices.Contains(skippedFolders, d.Name()) {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() || !testName.MatchString(d.Name()) {
			return nil
		}
		if content, err := fs.ReadFile(files, name); err == nil {
			found[name] = ir.DigestBytes(content)
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return found
}

// compare lists the tests that are gone and those that were edited.
func (t testFiles) compare(now testFiles) (gone, edited []string) {
	if now == nil {
		return nil, nil
	}
	for _, name := range slices.Sorted(maps.Keys(t)) {
		switch digest, there := now[name]; {
		case !there:
			gone = append(gone, name)
		case digest != t[name]:
			edited = append(edited, name)
		}
	}
	return gone, edited
}
