//go:build !unix

package project_test

import (
	"os"
	"testing"
)

// makePipe makes another odd thing where there are no pipes in folders.
func makePipe(t *testing.T, path string) {
	t.Helper()
	must(t, os.Mkdir(path, 0o755))
}
