//go:build !unix

package store

// processAlive cannot ask here: every process lives until its beat is stale.
func processAlive(int) bool { return true }
