package substrate

import (
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// kin is what a run knows of its process on this system.
type kin struct{ start uint64 }

// owned knows every process that descends from a shell of this substrate. This
// process is made the reaper of orphans, so that what leaves its session, its
// parent and its environment behind is still found below it (P-PROC-2).
type owned struct {
	scratch string
	self    int
	sid     int
	now     func() time.Time
	// why is empty when the whole family can be found.
	why string

	mu     sync.Mutex
	shells map[int]*run
	// left are processes that outlived their shell, by pid with their start.
	left map[int]uint64
	// known are all processes that were seen to be ours, so that they are reaped once dead.
	known map[int]uint64
	// suspects are orphans without a mark, by pid; waiting says that one of the last
	// look is not old enough to count.
	suspects map[int]suspect
	waiting  bool
	// since is the start of the first shell; nothing older is ours.
	since uint64
	// dead are zombies nobody waited for yet, by pid with their start, and in how many looks.
	dead  map[int]lookedAt
	pipes []*os.File
}

// suspicion is how long an orphan without any mark is watched before it counts as
// ours: one that another substrate of this process is just starting has its mark
// by then.
const suspicion = 60 * time.Millisecond

type suspect struct {
	start uint64
	since time.Time
}

type lookedAt struct {
	start uint64
	looks int
}

// patience is how many looks a zombie of unknown kind gets before it is reaped:
// a process that somebody waits for is gone long before.
const patience = 50

func newOwned(scratch string, now func() time.Time) *owned {
	o := &owned{
		scratch: scratch, now: now, suspects: map[int]suspect{}, self: os.Getpid(), shells: map[int]*run{}, left: map[int]uint64{}, known: map[int]uint64{}, dead: map[int]lookedAt{},
	}
	o.sid, _ = unix.Getsid(0)
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		o.why = "a process that leaves its session and its environment cannot be found again"
	}
	if _, ok := readProc(o.self); !ok {
		o.why = "/proc cannot be read: only the process group of a command is ended with it"
	}
	return o
}

func (o *owned) limit() string { return o.why }

// start launches the shell. The lock keeps a look from taking it for an orphan.
func (o *owned) start(r *run) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	process, err := r.begin()
	if err != nil {
		return err
	}
	r.process, r.pid = process, process.Pid
	if p, ok := readProc(r.pid); ok {
		r.kin.start = p.start
		if o.since == 0 {
			o.since = p.start
		}
	}
	o.shells[r.pid] = r
	return nil
}

// signal asks the run's processes to end, or ends them.
func (o *owned) signal(r *run, kill bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	sig := unix.SIGTERM
	if kill {
		sig = unix.SIGKILL
	}
	members := o.members(r)
	// The group is signalled as one while its number cannot belong to anybody else.
	whole := !isClosed(r.exited)
	if whole {
		_ = unix.Kill(-r.pid, sig)
	}
	for _, p := range members {
		if !whole || p.pgid != r.pid {
			_ = unix.Kill(p.pid, sig)
		}
	}
}

// alive reports whether anything but the shell itself is left of a run.
func (o *owned) alive(r *run) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.members(r)) > 0 || o.waiting
}

// finish ends the bookkeeping of a run and returns the pids that outlived it.
func (o *owned) finish(r *run) []int {
	o.mu.Lock()
	defer o.mu.Unlock()
	var pids []int
	for _, p := range o.members(r) {
		o.left[p.pid] = p.start
		pids = append(pids, p.pid)
	}
	delete(o.shells, r.pid)
	if len(pids) > 0 {
		o.pipes = append(o.pipes, r.outputs...)
	}
	return pids
}

// members are the living descendants of a run's shell, without the shell.
// Holding mu.
func (o *owned) members(r *run) []proc {
	all := o.family()
	ours := map[int]bool{r.pid: true}
	for _, p := range all {
		switch {
		case p.sid == r.pid || p.pgid == r.pid:
			ours[p.pid] = true
		case o.orphan(p) && p.start >= r.kin.start && !o.contested(r, p):
			ours[p.pid] = true
		}
	}
	return o.remember(living(all, ours, r.pid))
}

// remember notes processes as ours. Holding mu.
func (o *owned) remember(procs []proc) []proc {
	for _, p := range procs {
		o.known[p.pid] = p.start
	}
	return procs
}

// living closes ours over children and drops zombies and the shell.
func living(all []proc, ours map[int]bool, shell int) []proc {
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if !ours[p.pid] && ours[p.ppid] {
				ours[p.pid], grown = true, true
			}
		}
	}
	var found []proc
	for _, p := range all {
		if ours[p.pid] && !p.zombie && p.pid != shell {
			found = append(found, p)
		}
	}
	return found
}

// orphan reports a process that fell to us when its parent ended: a child of
// ours in a session of its own that is no shell and was not left by an earlier run.
func (o *owned) orphan(p proc) bool {
	if p.ppid != o.self || p.sid == o.sid || p.zombie || o.shells[p.pid] != nil || o.left[p.pid] == p.start {
		return false
	}
	switch tagOf(p.pid, o.scratch) {
	case taggedOurs:
		return true
	case taggedOther:
		return false
	}
	s := o.suspects[p.pid]
	if s.start != p.start {
		s = suspect{p.start, o.now()}
		o.suspects[p.pid] = s
	}
	old := o.now().Sub(s.since) >= suspicion
	o.waiting = o.waiting || !old
	return old
}

// contested reports an orphan that another run under way may have started.
func (o *owned) contested(r *run, p proc) bool {
	for _, other := range o.shells {
		if other != r && p.start >= other.kin.start {
			return true
		}
	}
	return false
}

// family lists the descendants of this process and reaps what nobody waits for.
// Holding mu.
func (o *owned) family() []proc {
	all, err := listProcs()
	if err != nil {
		return nil
	}
	ours := map[int]bool{o.self: true}
	family := living(all, ours, o.self)
	dead := map[int]lookedAt{}
	o.waiting = false
	for _, p := range all {
		if ours[p.pid] && p.zombie && p.ppid == o.self && o.shells[p.pid] == nil && p.sid != o.sid {
			o.reap(p, dead)
		}
	}
	o.dead = dead
	o.forget(all)
	if o.why == "" {
		return family
	}
	return all
}

// forget drops what is no longer there, since its number will be somebody else's.
func (o *owned) forget(all []proc) {
	there := make(map[int]uint64, len(all))
	for _, p := range all {
		there[p.pid] = p.start
	}
	for _, m := range []map[int]uint64{o.known, o.left} {
		for pid, start := range m {
			if there[pid] != start {
				delete(m, pid)
			}
		}
	}
	for pid, s := range o.suspects {
		if there[pid] != s.start {
			delete(o.suspects, pid)
		}
	}
}

// reap takes a zombie off the system's list. Whoever leads no session was never
// started by this program, so nobody waits for it; a leader may be another
// substrate's shell, and goes when it is known as ours or was seen so often that
// nobody can be waiting.
func (o *owned) reap(p proc, dead map[int]lookedAt) {
	seen := o.dead[p.pid]
	if seen.start != p.start {
		seen = lookedAt{start: p.start}
	}
	if seen.looks++; p.pid != p.sid || o.known[p.pid] == p.start || seen.looks > patience {
		_, _ = unix.Wait4(p.pid, nil, unix.WNOHANG, nil)
		delete(o.known, p.pid)
		delete(o.left, p.pid)
		return
	}
	dead[p.pid] = seen
}

// killAll ends everything that is left, and closes the pipes it held.
func (o *owned) killAll() {
	if o.round(unix.SIGTERM) > 0 && !o.gone(closingGrace) {
		for range 20 {
			if o.round(unix.SIGKILL) == 0 || o.gone(pace) {
				break
			}
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, pipe := range o.pipes {
		pipe.Close()
	}
	o.pipes = nil
}

// round signals everything once and says how many there were, suspects counted
// as one; signal 0 only counts.
func (o *owned) round(sig unix.Signal) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := o.everything()
	for _, p := range all {
		_ = unix.Kill(p.pid, sig)
	}
	if o.waiting {
		return len(all) + 1
	}
	return len(all)
}

// gone waits for everything to end, at most for limit.
func (o *owned) gone(limit time.Duration) bool {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(pace / 2)
	defer tick.Stop()
	for {
		if o.round(0) == 0 {
			return true
		}
		select {
		case <-deadline.C:
			return false
		case <-tick.C:
		}
	}
}

// everything is every living process that this substrate still owns. Holding mu.
func (o *owned) everything() []proc {
	if o.since == 0 {
		return nil
	}
	all := o.family()
	ours := map[int]bool{}
	for _, p := range all {
		_, isShells := o.shells[p.sid]
		switch {
		case isShells, o.left[p.pid] == p.start, p.start >= o.since && o.orphan(p):
			ours[p.pid] = true
		case p.start >= o.since && p.sid != o.sid && tagOf(p.pid, o.scratch) == taggedOurs:
			ours[p.pid] = true
		}
	}
	return o.remember(living(all, ours, 0))
}

// reapTagged ends the processes of a dead run, found by the TMPDIR they carry. A
// process that is just being started shows no environment, so one look is not enough.
func reapTagged(scratch string) []int {
	var killed []int
	for quiet, rounds := 0, 0; quiet < 2 && rounds < 20; rounds++ {
		if rounds > 0 {
			<-time.After(pace)
		}
		all, err := listProcs()
		if err != nil {
			return killed
		}
		quiet++
		for _, p := range all {
			if p.zombie || p.pid == os.Getpid() || tagOf(p.pid, scratch) != taggedOurs {
				continue
			}
			quiet = 0
			if unix.Kill(p.pid, unix.SIGKILL) == nil && !slices.Contains(killed, p.pid) {
				killed = append(killed, p.pid)
			}
		}
	}
	return killed
}
