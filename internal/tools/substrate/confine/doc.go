// Package confine holds the processes of shell commands (D-5, P-GUARD-7).
//
// A Keeper is a small process of the own binary, started once for a session and a
// kind of network. It takes namespaces where the system gives them, restricts
// itself by Landlock and seccomp, and then starts the commands that it is handed.
// They inherit what holds it. Because all commands of a session come from one
// keeper they stand in one Landlock domain: one may signal a server that an earlier
// one left, none may signal or trace anything else. They are started as children of
// the caller (CLONE_PARENT), which waits for them and owns them as it owns any.
//
// Invariants: a keeper that could not restrict itself starts nothing and says why;
// what Plan does not grant is not reachable; nothing is put back to looser.
//
// It imports the standard library, x/sys and go-landlock. To hold one thing more:
// a field of Plan, its line in apply_linux.go, a test that tries it.
package confine

// Word is the first argument of the own binary by which a keeper is started.
const Word = "__confine"

// Plan is what the commands of a keeper may reach. All paths are absolute; those
// that are not there are left out.
type Plan struct {
	// Read are folders and files for reading and running, Write also for writing.
	Read, Write []string
	// Devices are files that may be read, written and controlled.
	Devices []string
	// Frozen are paths below Write that stay as they are; Pinned are folders there
	// that can be written into but not moved away. Hidden are paths that look empty.
	// They need Namespaces.
	Frozen, Pinned, Hidden []string
	// Network leaves the network of the machine; else there is a loopback of the
	// session's own where Namespaces gives one, and no network socket where not.
	Network bool
	// Namespaces asks for mounts (and a network) of the keeper's own.
	Namespaces bool
}

// Start is a program to start.
type Start struct {
	Path string
	Args []string
	Env  []string
	Dir  string
}

// answer is what a keeper says: once that it is ready, then for each Start.
type answer struct {
	PID   int
	Error string
}
