package substrate

import (
	"bufio"
	"context"
	"io"
	"testing"
	"time"

	"car/internal/engine/tool"
)

// A-CLI-2, B035: a person who will not wait leaves nothing running, also what is
// deaf to every signal that can be refused.
func TestKillWaitsForNobody(t *testing.T) {
	t.Parallel()
	sub, err := Open(Config{Root: t.TempDir(), ScratchBase: t.TempDir(), UID: "1", Session: "s", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	r, w := io.Pipe()
	ended := make(chan tool.Exit, 1)
	go func() {
		exit, _ := sub.Exec(context.Background(), tool.Exec{Text: "trap '' TERM INT HUP; echo go; setsid sleep 600 & while :; do sleep 600; done"}, w)
		w.Close()
		ended <- exit
	}()
	lines := bufio.NewReader(r)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, lines)
	sub.(Killer).Kill()
	select {
	case exit := <-ended:
		if exit.Signal == "" {
			t.Errorf("the command ended with %+v, want a signal", exit)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the command outlived Kill")
	}
}
