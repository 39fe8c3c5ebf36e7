package grepfiles

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"unicode/utf8"

	"car/internal/engine/tool"
	"car/internal/tools/textfile"
	"car/internal/tools/walk"
)

const (
	// workers search at the same time, each with one file in memory.
	workers = 4
	// ahead bounds how many files the walk is before the answer.
	ahead = 64
	// maxChars clips a line that is shown.
	maxChars = 300
)

// verdict says what became of a file.
type verdict uint8

const (
	unreadable verdict = iota
	searched
	binary
	tooLarge
	secret
)

// result is what a file brought.
type result struct {
	path    string
	verdict verdict
	matches []match
	count   int
	// err is why a file is unreadable.
	err error
}

// searcher searches files one after the other and keeps its buffer. Not for concurrent use.
type searcher struct {
	files   tool.Files
	matcher *matcher
	in      input
	buf     []byte
	// small is the buffer that a search without letter case works in.
	small []byte
}

// job is a file on its way from the walk to the answer: a worker fills result
// and then closes done; the collector waits for done.
type job struct {
	path   string
	result result
	done   chan struct{}
}

// tree searches everything below the start. The walk hands jobs to the workers
// and, in the same order, to the collector. All of them have ended on return.
func (g grepFiles) tree(ctx context.Context, files tool.Files, m *matcher, in input, a *answer) error {
	ctx, cancel := context.WithTimeout(ctx, g.budget)
	defer cancel()
	work, order := make(chan *job), make(chan *job, ahead)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			s := searcher{files: files, matcher: m, in: in}
			for j := range work {
				j.result = s.file(j.path)
				close(j.done)
			}
		})
	}
	all.Go(func() {
		for j := range order {
			<-j.done
			a.add(j.result)
		}
	})
	links, special := 0, 0
	skipped, err := walk.Tree(ctx, files, *in.Path, walk.Options{GlobalIgnore: g.ignore}, func(e walk.Entry) error {
		switch mode := e.Dir.Type(); {
		case mode.IsDir() || !in.wants(e.Rel):
			return nil
		case mode&fs.ModeSymlink != 0:
			links++
			return nil
		case !mode.IsRegular():
			special++
			return nil
		}
		j := &job{path: e.Path, done: make(chan struct{})}
		select {
		case order <- j:
		case <-ctx.Done():
			return ctx.Err()
		}
		work <- j
		return nil
	})
	close(work)
	close(order)
	all.Wait()
	found := a.skip
	a.skip = skipped.NotLookedAt()
	a.skip.Binary, a.skip.TooLarge, a.skip.Secret, a.skip.Links, a.skip.Special = found.Binary, found.TooLarge, found.Secret, links, special
	a.skip.Unreadable += found.Unreadable
	return err
}

// file reads and searches one file.
func (s *searcher) file(name string) result {
	r := result{path: name}
	if keyFile(name) {
		r.verdict = secret
		return r
	}
	f, err := s.files.Open(name)
	if err != nil {
		r.err = err
		var fault *tool.Fault
		if errors.As(err, &fault) && fault.Kind == tool.Denied {
			if info, err := s.files.Stat(name); err == nil && info.Secret {
				r.verdict = secret
			}
		}
		return r
	}
	defer f.Close()
	if f.Info().Secret {
		r.verdict = secret
		return r
	}
	if r.verdict, r.err = s.read(f); r.verdict == searched {
		s.search(&r, s.text())
	}
	return r
}

// keyFile reports files that mostly hold private keys, which reading asks for
// each (T-FILE-5); a search passes them.
func keyFile(name string) bool {
	ext := strings.ToLower(path.Ext(strings.TrimRight(name, ". ")))
	return ext == ".pem" || ext == ".key"
}

// read fills the buffer, but not with what will not be searched.
func (s *searcher) read(f tool.File) (verdict, error) {
	if f.Info().Size > fileBytes {
		return tooLarge, nil
	}
	if need := int(f.Info().Size) + 1; cap(s.buf) < need {
		s.buf = make([]byte, 0, max(need, 64<<10))
	}
	s.buf = s.buf[:0]
	for checked := false; ; {
		if len(s.buf) == cap(s.buf) {
			s.buf = append(s.buf, 0)[:len(s.buf)]
		}
		room := s.buf[len(s.buf):cap(s.buf)]
		if !checked {
			room = room[:min(len(room), 8<<10)]
		}
		n, err := f.Read(room)
		s.buf = s.buf[:len(s.buf)+n]
		switch {
		case len(s.buf) > fileBytes:
			return tooLarge, nil
		case !checked && (len(s.buf) >= 8<<10 || err != nil):
			if checked = true; textfile.Binary(s.buf) {
				return binary, nil
			}
		}
		if errors.Is(err, io.EOF) {
			return searched, nil
		}
		if err != nil {
			return unreadable, err
		}
	}
}

// text is the buffer as UTF-8.
func (s *searcher) text() []byte {
	if utf8.Valid(s.buf) {
		return bytes.TrimPrefix(s.buf, []byte("\xef\xbb\xbf"))
	}
	_, text := textfile.Decode(s.buf)
	return []byte(text)
}

// search collects the lines that match, as many as can be shown, and counts all.
func (s *searcher) search(r *result, text []byte) {
	s.small = s.matcher.lines(text, s.small, func(start, end, at, number int) bool {
		r.count++
		if s.in.FilesOnly || len(r.matches) == s.in.Limit {
			return true
		}
		m := match{Path: r.path, Line: number, Text: clip(text[start:end], at)}
		if s.in.Context > 0 {
			m.Before, m.After = around(text, start, end, s.in.Context)
		}
		r.matches = append(r.matches, m)
		return true
	})
}

// around are the lines before and after a line.
func around(text []byte, start, end, n int) (before, after []string) {
	for from := start; from > 0 && len(before) < n; {
		stop := from - 1
		from = bytes.LastIndexByte(text[:stop], '\n') + 1
		before = append([]string{shown(text[from:stop])}, before...)
	}
	rest := text[end:]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[i+1:]
	} else {
		rest = nil
	}
	for len(rest) > 0 && len(after) < n {
		line, more, _ := bytes.Cut(rest, []byte("\n"))
		after = append(after, shown(line))
		rest = more
	}
	return before, after
}

func shown(line []byte) string { return clip(bytes.TrimSuffix(line, []byte("\r")), 0) }

// clip shows maxChars characters of a line, those around a match that lies further on.
func clip(line []byte, at int) string {
	lead := ""
	if at > maxChars*2/3 {
		from := at - maxChars/3
		for from > 0 && !utf8.RuneStart(line[from]) {
			from--
		}
		line, lead = line[from:], "…"
	}
	// No more than can be shown is turned into a string: lines may be megabytes.
	head, cut := textfile.Clip(strings.ToValidUTF8(string(line[:min(len(line), maxChars*utf8.UTFMax)]), ""), maxChars)
	if cut > 0 || len(line) > maxChars*utf8.UTFMax {
		head += "…"
	}
	return lead + head
}
