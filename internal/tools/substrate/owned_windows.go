package substrate

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// kin is a run's job object: everything its shell starts belongs to it.
type kin struct{ job windows.Handle }

// owned keeps the job objects of this substrate's shells. A job ends with its
// last handle, so a killed `car` leaves no process.
type owned struct {
	mu    sync.Mutex
	left  []windows.Handle
	pipes []*os.File
}

func newOwned(string, func() time.Time) *owned { return &owned{} }

func (o *owned) limit() string { return "" }

// ownSession hands cmd.exe the exact text, which os/exec would quote for another
// parser, and keeps the console's interrupts away.
func ownSession(cmd *exec.Cmd, sh shell, text string) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		CmdLine:       `"` + sh.path + `" /D /S /C "` + text + `"`,
		CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW,
	}
}

// ownProgram keeps the console's interrupts from a program without a shell.
func ownProgram(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW}
}

func exitOf(state *os.ProcessState) (code int, signal string) {
	if state == nil {
		return -1, ""
	}
	return state.ExitCode(), ""
}

// windowsShell is cmd.exe of the system folder.
func windowsShell(c Config) (shell, error) {
	if c.Dialect != "" {
		return shell{}, errors.New("only cmd runs shell texts on windows")
	}
	root := envValue(c.Env, "SystemRoot")
	if root == "" {
		root = `C:\Windows`
	}
	return shell{dialect: "cmd", path: filepath.Join(root, "System32", "cmd.exe")}, nil
}

func (o *owned) start(r *run) error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return err
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		return errors.Join(err, windows.CloseHandle(job))
	}
	if err := r.cmd.Start(); err != nil {
		return errors.Join(err, windows.CloseHandle(job))
	}
	r.process, r.pid, r.kin.job = r.cmd.Process, r.cmd.Process.Pid, job
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(r.pid))
	if err == nil {
		err = errors.Join(windows.AssignProcessToJobObject(job, h), windows.CloseHandle(h))
	}
	if err != nil {
		return errors.Join(err, r.cmd.Process.Kill(), windows.CloseHandle(job))
	}
	return nil
}

// signal has only one way here: the job ends.
func (o *owned) signal(r *run, _ bool) { _ = windows.TerminateJobObject(r.kin.job, 1) }

// alive reports whether the job has processes once the shell is gone.
func (o *owned) alive(r *run) bool { return isClosed(r.exited) && len(jobPIDs(r.kin.job)) > 0 }

// finish ends the bookkeeping of a run and returns the pids that outlived it.
func (o *owned) finish(r *run) []int {
	pids := jobPIDs(r.kin.job)
	if len(pids) == 0 {
		_ = windows.CloseHandle(r.kin.job)
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.left = append(o.left, r.kin.job)
	o.pipes = append(o.pipes, r.outputs...)
	return pids
}

// jobPIDs lists the processes of a job, at most 256 of them.
func jobPIDs(job windows.Handle) []int {
	const jobBasicProcessIDList = 3
	var list struct {
		assigned, count uint32
		ids             [256]uintptr
	}
	var size uint32
	if err := windows.QueryInformationJobObject(job, jobBasicProcessIDList, uintptr(unsafe.Pointer(&list)), uint32(unsafe.Sizeof(list)), &size); err != nil {
		return nil
	}
	pids := make([]int, 0, list.count)
	for _, id := range list.ids[:min(int(list.count), len(list.ids))] {
		pids = append(pids, int(id))
	}
	return pids
}

// killAll ends the jobs that are left, and closes the pipes they held.
func (o *owned) killAll() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, job := range o.left {
		_ = windows.TerminateJobObject(job, 1)
		_ = windows.CloseHandle(job)
	}
	for _, pipe := range o.pipes {
		pipe.Close()
	}
	o.left, o.pipes = nil, nil
}

// reapTagged has nothing to do: jobs ended with the run.
func reapTagged(string) []int { return nil }
