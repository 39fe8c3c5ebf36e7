package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"unsafe"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"
)

// apply holds this process and all that it will start. The order matters: mounts
// need what seccomp and Landlock take away.
func apply(p Plan) error {
	if abi := ABI(); abi < 3 {
		return fmt.Errorf("the kernel offers Landlock level %d, 3 is needed", abi)
	}
	if p.Namespaces {
		if err := arrange(p); err != nil {
			return fmt.Errorf("mounts: %w", err)
		}
	}
	if err := all(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	if err := dropCaps(); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	// Landlock is asked to do all that this kernel can; that it does enough was checked above.
	if err := landlock.V9.BestEffort().RestrictPaths(rules(p)...); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	if err := landlock.V9.BestEffort().RestrictScoped(); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	if err := filter(p.Network || p.Namespaces); err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	return nil
}

// all makes a call in every thread of this process.
func all(call, a, b, c, d uintptr) error {
	if _, _, errno := psx.Syscall6(call, a, b, c, d, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

func rules(p Plan) []landlock.Rule {
	var list []landlock.Rule
	add := func(paths []string, dirs, files func(...string) landlock.FSRule) {
		for _, path := range paths {
			if fi, err := os.Stat(path); err == nil && fi.IsDir() {
				list = append(list, dirs(path).IgnoreIfMissing())
			} else if err == nil {
				list = append(list, files(path).IgnoreIfMissing())
			}
		}
	}
	refer := func(paths ...string) landlock.FSRule { return landlock.RWDirs(paths...).WithRefer() }
	control := func(paths ...string) landlock.FSRule { return landlock.RWFiles(paths...).WithIoctlDev() }
	controlAll := func(paths ...string) landlock.FSRule { return landlock.RWDirs(paths...).WithIoctlDev() }
	add(p.Read, landlock.RODirs, landlock.ROFiles)
	add(p.Write, refer, landlock.RWFiles)
	add(p.Devices, controlAll, control)
	return list
}

// kept are the capabilities that a command of root may have over files that are
// granted to it. All others go, in a namespace too.
const kept = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID | 1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID

func dropCaps() error {
	header, data := &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &[2]unix.CapUserData{}
	var pinned runtime.Pinner
	defer pinned.Unpin()
	pinned.Pin(header)
	pinned.Pin(data)
	if err := unix.Capget(header, &data[0]); err != nil {
		return err
	}
	if data[0].Effective&(1<<unix.CAP_SETPCAP) != 0 {
		for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
			if kept>>c&1 == 0 {
				// A capability that this kernel does not know is none that could be kept.
				if err := all(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, c, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
					return err
				}
			}
		}
	}
	_ = all(unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0)
	data[0] = unix.CapUserData{Effective: data[0].Effective & kept, Permitted: data[0].Permitted & kept}
	data[1] = unix.CapUserData{}
	return all(unix.SYS_CAPSET, uintptr(unsafe.Pointer(header)), uintptr(unsafe.Pointer(data)), 0, 0)
}

// arrange gives this process mounts of its own: frozen paths cannot be written,
// pinned ones not moved, hidden ones are empty, terminals are its own.
func arrange(p Plan) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	for _, path := range p.Pinned {
		if err := bind(path, path, false); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	for _, path := range p.Frozen {
		if err := bind(path, path, true); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	for _, path := range p.Hidden {
		if err := hide(path); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if err := unix.Mount("devpts", "/dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620"); err == nil {
		if err := unix.Mount("/dev/pts/ptmx", "/dev/ptmx", "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("/dev/ptmx: %w", err)
		}
	} else if err := hide("/dev/pts"); err != nil {
		return fmt.Errorf("/dev/pts: %w", err)
	}
	if p.Network {
		return nil
	}
	return loopback()
}

func bind(from, to string, frozen bool) error {
	if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := unix.Mount(from, to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	if !frozen {
		return nil
	}
	var st unix.Statfs_t
	if err := unix.Statfs(to, &st); err != nil {
		return err
	}
	// What the mount below forbids can not be left out here.
	flags := uintptr(st.Flags) & (unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC | unix.MS_NOATIME | unix.MS_NODIRATIME)
	if st.Flags&unix.ST_RELATIME != 0 {
		flags |= unix.MS_RELATIME
	}
	return unix.Mount("", to, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|flags, "")
}

func hide(path string) error {
	fi, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case fi.IsDir():
		return unix.Mount("tmpfs", path, "tmpfs", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=0555,size=4k")
	}
	return unix.Mount("/dev/null", path, "", unix.MS_BIND, "")
}

// loopback brings up the one interface of an empty network.
func loopback() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, req); err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	return nil
}
