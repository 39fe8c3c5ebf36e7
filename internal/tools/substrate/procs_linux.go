package substrate

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// proc is a process as /proc shows it.
type proc struct {
	pid, ppid, pgid, sid int
	// start is in clock ticks since boot; with pid it names a process for good.
	start  uint64
	zombie bool
}

// listProcs reads all processes that can be seen.
func listProcs() ([]proc, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	procs := make([]proc, 0, len(names))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := readProc(pid); ok {
			procs = append(procs, p)
		}
	}
	return procs, nil
}

// readProc reads one process; false when it is gone.
func readProc(pid int) (proc, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return proc{}, false
	}
	// The name is in parentheses and may hold any byte, so count from its end.
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 20 {
		return proc{}, false
	}
	number := func(i int) int { n, _ := strconv.Atoi(fields[i]); return n }
	start, _ := strconv.ParseUint(fields[19], 10, 64)
	return proc{
		pid: pid, ppid: number(1), pgid: number(2), sid: number(3), start: start,
		zombie: fields[0] == "Z" || fields[0] == "X",
	}, true
}

// tag says whose child a process is by the TMPDIR it was started with.
type tag uint8

const (
	untagged tag = iota
	taggedOurs
	taggedOther
)

// tagOf looks into the environment a process was started with (T-SHELL-4).
func tagOf(pid int, scratch string) tag {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return untagged
	}
	found, marked := "", false
	for kv := range bytes.SplitSeq(data, []byte{0}) {
		if value, ok := bytes.CutPrefix(kv, []byte("TMPDIR=")); ok {
			found = string(value)
		}
		marked = marked || bytes.HasPrefix(kv, []byte(childMark+"="))
	}
	switch {
	case found == scratch || strings.HasPrefix(found, scratch+"/"):
		return taggedOurs
	case marked && strings.HasPrefix(filepath.Base(filepath.Dir(found)), "car-"):
		return taggedOther
	}
	return untagged
}
