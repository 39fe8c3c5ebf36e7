package substrate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"car/internal/engine/tool"
)

var (
	_ tool.Programs = (*local)(nil)
	_ tool.Servers  = (*local)(nil)
)

// RunProgram runs a program in a session of its own, as Exec runs a shell text.
func (l *local) RunProgram(ctx context.Context, p tool.Program, stdin []byte, stdout, stderr io.Writer) (tool.Exit, error) {
	return l.runProgram(ctx, p, bytes.NewReader(stdin), stdout, stderr)
}

// RunServer runs a program that is spoken to while it runs.
func (l *local) RunServer(ctx context.Context, p tool.Program, stdin io.ReadCloser, stdout, stderr io.Writer) (tool.Exit, error) {
	defer stdin.Close() // whoever writes to a program that has ended is told
	return l.runProgram(ctx, p, stdin, stdout, stderr)
}

func (l *local) runProgram(ctx context.Context, p tool.Program, stdin io.Reader, stdout, stderr io.Writer) (tool.Exit, error) {
	if err := ctx.Err(); err != nil {
		return tool.Exit{}, context.Cause(ctx)
	}
	cmd, err := l.program(p)
	if err != nil {
		return tool.Exit{}, err
	}
	if err := l.enter(); err != nil {
		return tool.Exit{}, err
	}
	defer l.runs.Done()
	began := l.cfg.Now()
	r := newRun(cmd)
	if err := r.connect(stdin, stdout, stderr); err != nil {
		return tool.Exit{}, fmt.Errorf("start %s: %w", p.Command, err)
	}
	if err := l.launch(r); err != nil {
		return tool.Exit{}, err
	}
	return l.see(ctx, r, began, 0)
}

// connect makes the three pipes of a program.
func (r *run) connect(stdin io.Reader, stdout, stderr io.Writer) error {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return err
	}
	r.stdin, r.input, r.theirs = ours, stdin, append(r.theirs, theirs)
	out, err := r.pipe(stdout)
	if err == nil {
		var errs *os.File
		errs, err = r.pipe(stderr)
		r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = theirs, out, errs
	}
	if err != nil {
		closeAll(append(append(r.theirs, r.outputs...), ours))
	}
	return err
}

// program turns a definition into a command, or says what is wrong with it.
func (l *local) program(p tool.Program) (*exec.Cmd, error) {
	dir := p.Dir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(l.desc.Root, dir)
	}
	if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
		return nil, &tool.Fault{Kind: tool.NotFound, Text: fmt.Sprintf("%q, the folder that %s runs in, is no directory", dir, p.Command)}
	}
	env, err := programEnv(l.env, dir, p.Env)
	if err != nil {
		return nil, err
	}
	path, err := l.find(p.Command, dir)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, p.Args...)
	cmd.Dir, cmd.Env = dir, env
	ownProgram(cmd)
	return cmd, nil
}

// find tells which file a command means. A bare name is looked for on PATH, and
// what lies in the workspace has to be named by its path: else a repository could
// put its own file in the place of a well-known program.
func (l *local) find(command, dir string) (string, error) {
	if strings.ContainsAny(command, `/\`) {
		path := command
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		found, err := exec.LookPath(path)
		if err != nil {
			return "", &tool.Fault{Kind: tool.NotFound, Text: fmt.Sprintf("%q is no program that can be run", path)}
		}
		return found, nil
	}
	for _, dir := range filepath.SplitList(envValue(l.env, "PATH")) {
		if !filepath.IsAbs(dir) || command == "" {
			continue
		}
		found, err := exec.LookPath(filepath.Join(dir, command))
		if err != nil {
			continue
		}
		if real, err := filepath.EvalSymlinks(found); err == nil && !isBelow(real, l.desc.Root) {
			return found, nil
		}
	}
	return "", &tool.Fault{Kind: tool.NotFound, Text: fmt.Sprintf("program %q is not on PATH; install it, or name it by its path", command)}
}

// programEnv puts a definition's variables over those of every child. What no
// child may have (P-GUARD-8), and what it is found by, it cannot set.
func programEnv(base []string, dir string, add map[string]string) ([]string, error) {
	env := slices.DeleteFunc(slices.Clone(base), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		_, replaced := add[name]
		return replaced || name == "PWD"
	})
	for name, value := range add {
		switch {
		case name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0):
			return nil, &tool.Fault{Kind: tool.BadArgs, Text: fmt.Sprintf("%q cannot be a variable of a program", name)}
		case alwaysWithheld(name) || slices.Contains([]string{"TMPDIR", "TMP", "TEMP", "PWD"}, strings.ToUpper(name)):
			return nil, &tool.Fault{Kind: tool.Denied, Text: fmt.Sprintf("variable %s is kept from every child process; take it out of the tool's env", name)}
		}
		env = append(env, name+"="+value)
	}
	env = append(env, "PWD="+dir)
	slices.Sort(env)
	return env, nil
}
