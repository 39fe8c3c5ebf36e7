package main

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"car/internal/assistant/llm"
	"car/internal/assistant/project"
)

// A-AUTH-3: a key that a program prints is asked for once and kept; when the server
// refuses it, the program is asked once more, and a refusal of that is the end.
func TestKeyCommandIsAskedAgainOnRefusal(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var keys []string
	accepted := "Bearer key-2"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		key := r.Header.Get("Authorization")
		keys = append(keys, key)
		if key != accepted {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":{"message":"wrong key"}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	script := filepath.Join(t.TempDir(), "key.sh")
	text := "#!/bin/sh\nn=$(cat \"$0.n\" 2>/dev/null || echo 0); n=$((n+1)); echo $n > \"$0.n\"; echo key-$n\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	m := &models{now: time.Now}
	p, err := m.makeOwn(project.Provider{Name: "own", Kind: "openai", BaseURL: s.URL + "/v1", KeyCommand: []string{script}})
	if err != nil {
		t.Fatal(err)
	}
	ask := func() (end error) {
		for _, err := range p.Stream(t.Context(), llm.Request{Model: "m", Messages: []llm.Message{llm.UserText("hello")}}) {
			end = err
		}
		return end
	}
	for range 2 {
		if err := ask(); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"Bearer key-1", "Bearer key-2", "Bearer key-2"}; !slices.Equal(keys, want) {
		t.Errorf("the server saw %q, want %q", keys, want)
	}
	mu.Lock()
	accepted, keys = "none", nil
	mu.Unlock()
	var refused *llm.Error
	if err := ask(); !errors.As(err, &refused) || refused.Reason != llm.AuthInvalidKey || len(keys) != 2 {
		t.Errorf("a key that stays wrong ends with %v after %q", err, keys)
	}
}
