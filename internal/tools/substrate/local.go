package substrate

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"car/internal/engine/tool"
)

// local is the machine itself. Safe for concurrent use.
type local struct {
	// fixed at creation
	cfg     Config
	desc    tool.Description
	shell   shell
	env     []string
	files   *files
	scratch *scratch
	owned   *owned
	jail    *jail
	// closing is closed by Close and read by every run.
	closing chan struct{}

	mu     sync.Mutex
	closed bool
	// runs counts calls of Exec, drains the goroutines that read pipes; Close waits for both.
	runs   sync.WaitGroup
	drains sync.WaitGroup
}

// shell is the program that runs texts.
type shell struct {
	dialect string
	path    string
	args    []string
}

// Open returns the local substrate over c.Root. It sweeps what killed runs left,
// makes the session's scratch folder and, on Linux, makes this process the one
// that orphaned descendants fall to (P-PROC-2). Close it.
func Open(c Config) (tool.Substrate, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	root, err := filepath.EvalSymlinks(c.Root)
	if err != nil {
		return nil, fmt.Errorf("working directory: %w", err)
	}
	sh, err := findShell(c, root)
	if err != nil {
		return nil, err
	}
	workspace, err := openDoor(root, c.Root, true)
	if err != nil {
		return nil, fmt.Errorf("working directory: %w", err)
	}
	scratch, err := openScratch(c)
	if err != nil {
		return nil, errors.Join(err, workspace.close())
	}
	inner, err := openDoor(scratch.dir, filepath.Join(c.ScratchBase, "car-"+c.UID, c.Session), false)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("scratch folder: %w", err), scratch.close(), workspace.close())
	}
	l := &local{
		cfg: c, shell: sh, scratch: scratch, closing: make(chan struct{}), owned: newOwned(scratch.dir, c.Now),
		env:   cacheEnv(childEnv(c, root, scratch.dir), c.Confine),
		files: &files{doors: []*door{workspace, inner}, home: c.Home, temps: scratch.temps, hidden: &secondNames{seen: map[string]secretsOf{}}},
	}
	l.desc = tool.Description{Root: root, Scratch: scratch.dir, Dialect: sh.dialect, Confinement: "none"}
	l.openJail(c.Confine)
	if l.jail.holds() {
		l.desc.Confinement = "landlock"
	}
	l.desc.Limits = l.jail.limits()
	if why := l.owned.limit(); why != "" {
		l.desc.Limits = append(l.desc.Limits, why)
	}
	return l, nil
}

// openDoor opens a canonical folder that is also known under another spelling.
func openDoor(dir, alias string, relative bool) (*door, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	handle, err := root.Open(".")
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	fi, err := handle.Stat()
	if err != nil {
		return nil, errors.Join(err, handle.Close(), root.Close())
	}
	return &door{root: root, handle: handle, dir: dir, aliases: []string{filepath.Clean(alias)}, info: fi, relative: relative}, nil
}

// Name returns "local", or "sandbox" where commands are held by the system.
func (l *local) Name() string {
	if l.jail.holds() {
		return "sandbox"
	}
	return "local"
}

// Describe says where and how this substrate runs things.
func (l *local) Describe() tool.Description { return l.desc }

// FS returns the files below the workspace and the scratch folder.
func (l *local) FS() tool.FS { return l.files }

// Spool opens a new file below the scratch folder, which FS can read.
func (l *local) Spool(name string) (io.WriteCloser, string, error) { return l.scratch.spool(name) }

// Close ends every process, waits for every goroutine and removes the scratch
// folder. It takes at most about 3 s and may be called twice.
func (l *local) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	close(l.closing)
	l.mu.Unlock()
	l.runs.Wait()
	l.owned.killAll()
	l.jail.close()
	l.drains.Wait()
	err := l.scratch.close()
	for _, d := range l.files.doors {
		err = errors.Join(err, d.close())
	}
	return err
}

func (d *door) close() error { return errors.Join(d.handle.Close(), d.root.Close()) }

// enter registers work that Close has to wait for.
func (l *local) enter() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return &tool.Fault{Kind: tool.Canceled, Text: "the session is closed"}
	}
	l.runs.Add(1)
	return nil
}

// findShell takes bash where it is, else sh (law 2). Nothing inside the
// workspace is ever run as the shell.
func findShell(c Config, root string) (shell, error) {
	if runtime.GOOS == "windows" {
		return windowsShell(c)
	}
	if c.Dialect != "sh" {
		if path := lookup("bash", c, root); path != "" {
			return shell{dialect: "bash", path: path, args: []string{"--noprofile", "--norc", "-c"}}, nil
		}
		if c.Dialect == "bash" {
			return shell{}, errors.New("bash is not installed; install it, or use the sh dialect")
		}
	}
	if path := lookup("sh", c, root); path != "" {
		return shell{dialect: "sh", path: path, args: []string{"-c"}}, nil
	}
	return shell{}, errors.New("no shell found: neither /bin/sh nor a PATH folder holds one")
}

// lookup finds a program in the system's folders, then in PATH outside the workspace.
func lookup(name string, c Config, root string) string {
	dirs := []string{"/bin", "/usr/bin", "/usr/local/bin"}
	dirs = append(dirs, filepath.SplitList(envValue(c.Env, "PATH"))...)
	for _, dir := range dirs {
		path, err := filepath.EvalSymlinks(filepath.Join(dir, name))
		if err != nil || !filepath.IsAbs(path) || isBelow(path, root) {
			continue
		}
		if fi, err := os.Stat(path); err == nil && fi.Mode().IsRegular() && fi.Mode().Perm()&0o111 != 0 {
			return filepath.Join(dir, name)
		}
	}
	return ""
}

func isBelow(path, dir string) bool {
	_, below := (&door{dir: dir}).rel(path)
	return below
}

func envValue(env []string, name string) string {
	for _, kv := range env {
		if n, v, _ := strings.Cut(kv, "="); n == name {
			return v
		}
	}
	return ""
}
