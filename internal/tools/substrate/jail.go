package substrate

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"

	"car/internal/tools/substrate/confine"
)

// Confinement asks for shell children that are held by the system (D-5).
type Confinement struct {
	// Helper starts the own binary as a keeper: its path, then its arguments with
	// its name, which end in confine.Word.
	Helper []string
	// CarHome is car's own folder; no child reaches it.
	CarHome string
	// ReadRoots are more folders that commands may read.
	ReadRoots []string
	// NoNetwork takes the machine's network from every command, whatever it may do else.
	NoNetwork bool
	// Caches is a folder for build caches of the project's own; empty shares the person's (D-35).
	Caches string
}

// jail keeps the keepers of a substrate, one for each kind of command, made when
// first needed. Safe for concurrent use.
type jail struct {
	cfg *Confinement
	// fixed once opened
	abi        int
	namespaces bool
	why        string

	mu      sync.Mutex
	closed  bool
	keepers map[kind]*kept
}

// kept is a keeper with the paths that it was told of.
type kept struct {
	keeper *confine.Keeper
	plan   confine.Plan
}

// openJail starts the keeper of ordinary commands, with namespaces where they can
// be had; without it there is no confinement and why says the reason.
func (l *local) openJail(c *Confinement) {
	l.jail = &jail{cfg: c, keepers: map[kind]*kept{}, abi: confine.ABI()}
	if c == nil || len(c.Helper) < 2 {
		l.jail.why = "nothing asked for it"
		return
	}
	for _, namespaces := range []bool{true, false} {
		l.jail.namespaces = namespaces
		_, err := l.keeperFor(kind{})
		if err == nil {
			l.jail.why = ""
			return
		}
		l.jail.why = err.Error()
	}
}

func (j *jail) holds() bool { return j.cfg != nil && j.why == "" }

// keeperFor returns the keeper of a kind. What is to be kept as it is may have come
// into being since, so a plan that changed has a keeper of its own.
func (l *local) keeperFor(k kind) (*confine.Keeper, error) {
	j := l.jail
	plan := j.cfg.plan(l, k)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil, os.ErrClosed
	}
	if have := j.keepers[k]; have != nil {
		if slices.Equal(have.plan.Frozen, plan.Frozen) && slices.Equal(have.plan.Pinned, plan.Pinned) && slices.Equal(have.plan.Hidden, plan.Hidden) {
			return have.keeper, nil
		}
		have.keeper.Close()
		delete(j.keepers, k)
	}
	keeper, err := confine.Open(j.cfg.Helper[0], j.cfg.Helper[1:], plan)
	if err != nil {
		return nil, err
	}
	j.keepers[k] = &kept{keeper: keeper, plan: plan}
	return keeper, nil
}

// drop forgets a keeper that has ended, so that the next command gets another.
func (j *jail) drop(k kind, keeper *confine.Keeper) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if have := j.keepers[k]; have != nil && have.keeper == keeper {
		keeper.Close()
		delete(j.keepers, k)
	}
}

func (j *jail) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	for _, have := range j.keepers {
		have.keeper.Close()
	}
}

// confined makes a run start below a keeper instead of below this process.
func (l *local) confined(r *run, k kind) {
	if !l.jail.holds() {
		return
	}
	k.network = k.network && !l.jail.cfg.NoNetwork
	r.begin = func() (*os.Process, error) {
		keeper, err := l.keeperFor(k)
		if err != nil {
			return nil, err
		}
		files, done, err := streams(r.cmd)
		if err != nil {
			return nil, err
		}
		defer done()
		pid, err := keeper.Spawn(confine.Start{Path: r.cmd.Path, Args: r.cmd.Args, Env: r.cmd.Env, Dir: r.cmd.Dir}, files)
		if err != nil {
			l.jail.drop(k, keeper)
			return nil, err
		}
		return os.FindProcess(pid)
	}
}

// streams are the files of a command; its input is empty where it has none.
func streams(cmd *exec.Cmd) (files [3]*os.File, done func(), err error) {
	done = func() {}
	for i, end := range []any{cmd.Stdin, cmd.Stdout, cmd.Stderr} {
		f, ok := end.(*os.File)
		if !ok {
			null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
			if err != nil {
				return files, done, fmt.Errorf("shell: %w", err)
			}
			done, f = func() { null.Close() }, null
		}
		files[i] = f
	}
	return files, done, nil
}

// limits says in a few words what holds commands and what does not (P-GUARD-7).
func (j *jail) limits() []string {
	if !j.holds() {
		said := "shell commands are not confined: they can write outside the working directory, read what you can read, and use the network"
		if j.cfg != nil {
			said += " (" + j.why + ")"
		}
		return []string{said}
	}
	if j.namespaces && j.abi >= 6 {
		return nil
	}
	var said []string
	if !j.namespaces {
		said = append(said, "the system gives no namespaces: "+"commands can change .car, .git/hooks and .git/config, have no loopback and no terminal, and reach sockets of services such as docker's")
	}
	if j.abi < 6 {
		said = append(said, fmt.Sprintf("Landlock level %d: commands can send signals to your other processes", j.abi))
	}
	return said
}
