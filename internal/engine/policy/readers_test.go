package policy

import "testing"

// G-TIER-2: flags that make a reader write or build are not readings.
func TestReadersThatWrite(t *testing.T) {
	t.Parallel()
	verdicts(t, withRules(t, Rules{}, nil), map[string]Verdict{
		"file main.go": Allow, "file -b -m magic main.go": Allow, "file -C -m magic": Ask, "file --compile -m magic": Ask,
		"history": Allow, "history 5": Allow, "history -w out": Ask, "history -a out": Ask,
		"go list ./...": Allow, "go list -json -deps ./...": Allow, "go list -export ./...": Ask, "go list -compiled ./...": Ask,
	})
}
