package main

import (
	"os/exec"
	"testing"
)

// BenchmarkStart is what a person waits for before anything: the process, the
// initialisation of every package, and one line (U-SPEED, D-19).
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		if err := exec.CommandContext(b.Context(), "car", "--version").Run(); err != nil {
			b.Fatal(err)
		}
	}
}
