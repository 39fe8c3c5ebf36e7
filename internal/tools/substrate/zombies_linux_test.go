package substrate

// zombiesBelow counts the zombie children of a process.
func zombiesBelow(pid int) int {
	n := 0
	all, _ := listProcs()
	for _, p := range all {
		if p.ppid == pid && p.zombie {
			n++
		}
	}
	return n
}
