package confine

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long a keeper may take to become ready or to start a program.
const patience = 10 * time.Second

// largest bounds a message; texts and environments are far smaller.
const largest = 8 << 20

// Keeper is the caller's end of a keeper process. Safe for concurrent use.
type Keeper struct {
	mu   sync.Mutex
	conn *net.UnixConn
	cmd  *exec.Cmd
	once sync.Once
}

// ABI is the level of Landlock that this kernel really offers, 0 for none.
func ABI() int {
	n, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// Open starts a keeper: program is the own binary, argv its arguments with its
// name, ending in Word. It returns when the keeper holds itself, or with the
// reason why it does not.
func Open(program string, argv []string, p Plan) (*Keeper, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("confinement: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "keeper"), os.NewFile(uintptr(fds[1]), "keeper")
	defer ours.Close()
	defer theirs.Close()
	// Whoever started this program may have left files open for its children.
	_ = unix.CloseRange(3, 1<<30, unix.CLOSE_RANGE_CLOEXEC)
	cmd := &exec.Cmd{Path: program, Args: argv, Env: []string{"TERM=dumb"}, Dir: "/", ExtraFiles: []*os.File{theirs}}
	cmd.SysProcAttr = attributes(p)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("confinement: %w", err)
	}
	theirs.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		_ = cmd.Process.Kill()
		return nil, errors.Join(err, cmd.Wait())
	}
	k := &Keeper{conn: conn.(*net.UnixConn), cmd: cmd}
	var a answer
	if err = send(k.conn, p, nil); err == nil {
		a, err = k.hear()
	}
	if err == nil && a.Error != "" {
		err = errors.New(a.Error)
	}
	if err != nil {
		k.Close()
		return nil, fmt.Errorf("confinement: %w", err)
	}
	return k, nil
}

// attributes puts the keeper out of the reach of the terminal's signals, and into
// namespaces where the plan asks for them.
func attributes(p Plan) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if p.Namespaces {
		uid, gid := os.Getuid(), os.Getgid()
		attr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWIPC
		if !p.Network {
			attr.Cloneflags |= unix.CLONE_NEWNET
		}
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP}
	}
	return attr
}

// Spawn starts a program in a session of its own as a child of the calling
// process, which has to wait for it. The files become its standard streams.
func (k *Keeper) Spawn(s Start, files [3]*os.File) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := send(k.conn, s, unix.UnixRights(int(files[0].Fd()), int(files[1].Fd()), int(files[2].Fd()))); err != nil {
		return 0, fmt.Errorf("confinement: %w", err)
	}
	a, err := k.hear()
	if err != nil {
		return 0, fmt.Errorf("confinement: the process that holds commands has ended: %w", err)
	}
	if a.Error != "" {
		return 0, errors.New(a.Error)
	}
	// A command can not make its keeper lie about whom we are to signal.
	if parent(a.PID) != os.Getpid() {
		return 0, fmt.Errorf("confinement: process %d is not the one that was started", a.PID)
	}
	return a.PID, nil
}

func parent(pid int) int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(data)[strings.LastIndexByte(string(data), ')')+1:])
	ppid := 0
	if len(fields) > 1 {
		_, _ = fmt.Sscan(fields[1], &ppid)
	}
	return ppid
}

// hear waits for an answer; a keeper that is too slow with it is given up.
func (k *Keeper) hear() (a answer, err error) {
	late := time.AfterFunc(patience, func() { k.conn.Close() })
	defer late.Stop()
	return a, receive(k.conn, &a)
}

// Close ends the keeper; what it started goes on.
func (k *Keeper) Close() {
	k.once.Do(func() {
		k.conn.Close()
		_ = k.cmd.Process.Kill()
		_ = k.cmd.Wait()
	})
}

func send(c *net.UnixConn, v any, rights []byte) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	head := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	if _, _, err := c.WriteMsgUnix(head, rights, nil); err != nil {
		return err
	}
	_, err = c.Write(data)
	return err
}

func receive(r io.Reader, v any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	return receiveBody(r, head, v)
}

func receiveBody(r io.Reader, head [4]byte, v any) error {
	size := binary.BigEndian.Uint32(head[:])
	if size > largest {
		return fmt.Errorf("a message of %d bytes is too large", size)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}
