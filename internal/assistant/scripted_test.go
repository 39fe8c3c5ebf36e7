package assistant

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"car/internal/assistant/llm"
	"car/internal/assistant/llm/scripted"
)

// A-LOOP-1, A-LLM-9, A-LLM-10, A-EVT-1: a scenario file through the real engine on
// a provider that breaks: nothing is lost, nothing runs twice, one end.
func TestScenarioOnABreakingProvider(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.file("greet.sh", "echo helo\n")
	text, err := os.ReadFile("testdata/fix.toml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := scripted.New(scripted.Config{File: "testdata/fix.toml", Data: text, CWD: b.root,
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
	if err != nil {
		t.Fatal(err)
	}
	b.config.Retry = llm.RetryPolicy{Tries: 3, Total: time.Minute, Base: time.Millisecond, Cap: time.Millisecond}
	b.config.Models = menu{choices: []Choice{{Provider: p, Model: "scripted"}}}
	events := b.say(Input{Text: "fix the greeting"})
	done := mustEnd[Done](t, events)
	if !strings.Contains(done.Text, "it says hello now.") {
		t.Errorf("done says %q", done.Text)
	}
	if got, _ := os.ReadFile(filepath.Join(b.root, "greet.sh")); string(got) != "echo hello\n" {
		t.Errorf("greet.sh is %q", got)
	}
	if n := len(bodies[InferenceRetry](events)); n != 1 {
		t.Errorf("%d retries", n)
	}
	results := bodies[ToolResult](events)
	if len(results) != 3 || !results[2].OK || !strings.Contains(results[2].Excerpt, "hello") {
		t.Errorf("results %+v", results)
	}
	if claims := bodies[ReceiptReport](events)[0].UngroundedClaims; len(claims) != 0 {
		t.Errorf("claims %v", claims)
	}
}
