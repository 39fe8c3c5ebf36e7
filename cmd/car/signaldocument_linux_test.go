package main

import (
	"bytes"
	"encoding/json"
	"syscall"
	"testing"
)

// P-TRUE-1, D-14: the document of a run that a signal ended states the exit code
// that the process ends with, not that of ctrl+c.
func TestTheDocumentStatesTheSignalsCode(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	begun := s.awaitFile(t)
	scenario := s.scenario(t, "echo go > begun; sleep 602", "done")
	cmd := s.car(t.Context(), "do", "--json", "--tier", "full_access", "--model", "scripted:"+scenario, "sleep")
	var answer bytes.Buffer
	cmd.Stdout = &answer
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	begun()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the code is looked at
	var said document
	if err := json.Unmarshal(answer.Bytes(), &said); err != nil {
		t.Fatalf("%v in %q", err, answer.String())
	}
	if code := cmd.ProcessState.ExitCode(); code != int(exitTerminated) || said.ExitCode != code {
		t.Errorf("the document says %d, the process %d, want %d", said.ExitCode, code, exitTerminated)
	}
}
