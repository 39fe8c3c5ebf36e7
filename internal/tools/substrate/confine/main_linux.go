package confine

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Main is a keeper: it serves the connection that it finds as its file 3 until
// that ends. Only a process that Open started gets that far.
func Main() error {
	unix.CloseOnExec(3)
	file := os.NewFile(3, "caller")
	c, err := net.FileConn(file)
	file.Close()
	if err != nil {
		return fmt.Errorf("%s is started by car itself and has no use otherwise", Word)
	}
	conn, ok := c.(*net.UnixConn)
	if !ok {
		return fmt.Errorf("%s is started by car itself and has no use otherwise", Word)
	}
	var p Plan
	if err := receive(conn, &p); err != nil {
		return err
	}
	if err := apply(p); err != nil {
		return errors.Join(err, send(conn, answer{Error: err.Error()}, nil))
	}
	if err := send(conn, answer{}, nil); err != nil {
		return err
	}
	for {
		if err := serve(conn); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

func serve(conn *net.UnixConn) error {
	var head [4]byte
	oob := make([]byte, unix.CmsgSpace(3*4))
	n, oobn, _, _, err := conn.ReadMsgUnix(head[:], oob)
	if err != nil {
		return err
	}
	if n == 0 {
		return io.EOF
	}
	if _, err := io.ReadFull(conn, head[n:]); err != nil {
		return err
	}
	fds, err := rights(oob[:oobn])
	defer func() {
		for _, fd := range fds {
			unix.Close(fd)
		}
	}()
	if err != nil {
		return err
	}
	var s Start
	if err := receiveBody(conn, head, &s); err != nil {
		return err
	}
	pid, err := syscall.ForkExec(s.Path, s.Args, &syscall.ProcAttr{
		Dir: s.Dir, Env: s.Env, Files: []uintptr{uintptr(fds[0]), uintptr(fds[1]), uintptr(fds[2])},
		Sys: &syscall.SysProcAttr{Setsid: true, Cloneflags: unix.CLONE_PARENT},
	})
	if err != nil {
		return send(conn, answer{Error: fmt.Sprintf("start %s: %v", s.Path, err)}, nil)
	}
	return send(conn, answer{PID: pid}, nil)
}

func rights(oob []byte) ([]int, error) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	var fds []int
	for i := range messages {
		got, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			return fds, err
		}
		fds = append(fds, got...)
	}
	for _, fd := range fds {
		unix.CloseOnExec(fd)
	}
	if len(fds) != 3 {
		return fds, fmt.Errorf("a program needs 3 streams, not %d", len(fds))
	}
	return fds, nil
}
