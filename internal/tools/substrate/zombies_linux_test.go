package substrate

// zombiesBelow counts the zombie children of a process, one entry each.
func zombiesBelow(pid int) []int {
	var found []int
	all, _ := listProcs()
	for _, p := range all {
		if p.ppid == pid && p.zombie {
			found = append(found, 1)
		}
	}
	return found
}
