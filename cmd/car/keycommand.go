package main

import (
	"context"
	"errors"
	"iter"
	"os/exec"
	"strings"
	"sync"

	"car/internal/assistant/llm"
	"car/internal/assistant/llm/wire"
)

// commandKey is a key that the person's own program prints. It is asked once, and
// again when a server refuses what it printed. Only the person's own settings file
// can name one.
type commandKey struct {
	argv []string

	mu  sync.Mutex
	key wire.Secret
}

// source is the key as adapters ask for it.
func (k *commandKey) source(ctx context.Context) (wire.Credential, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.key == "" {
		key, err := k.ask(ctx)
		if err != nil {
			return wire.Credential{}, err
		}
		k.key = key
	}
	return wire.Credential{Key: k.key}, nil
}

func (k *commandKey) ask(ctx context.Context) (wire.Secret, error) {
	out, err := exec.CommandContext(ctx, k.argv[0], k.argv[1:]...).Output()
	if err != nil {
		return "", err
	}
	key := wire.Secret(strings.TrimSpace(string(out)))
	if key == "" {
		return "", errors.New("key_command printed nothing")
	}
	return key, nil
}

// refresh asks the program again and reports whether there is another key now.
func (k *commandKey) refresh(ctx context.Context, refused wire.Secret) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.key != refused { // somebody else was faster
		return true
	}
	key, err := k.ask(ctx)
	if err != nil || key == k.key {
		return false
	}
	k.key = key
	return true
}

// refreshing is a provider whose key is asked for anew, once a request, when the
// server refuses it (A-AUTH-3).
type refreshing struct {
	llm.Provider
	key *commandKey
}

// Stream sends the request, and once more with another key after a refusal. A
// refusal comes before any event, so nothing was shown.
func (p refreshing) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		credential, err := p.key.source(ctx) // a source that errs is told by the adapter, which asks it again
		used := credential.Key
		if err != nil {
			used = ""
		}
		for e, err := range p.Provider.Stream(ctx, r) {
			var refused *llm.Error
			if errors.As(err, &refused) && refused.Reason == llm.AuthInvalidKey && p.key.refresh(ctx, used) {
				break
			}
			if !yield(e, err) || err != nil {
				return
			}
			if _, stop := e.(llm.Stop); stop {
				return
			}
		}
		for e, err := range p.Provider.Stream(ctx, r) {
			if !yield(e, err) {
				return
			}
		}
	}
}

// Models lists what the server serves.
func (p refreshing) Models(ctx context.Context) ([]llm.ModelInfo, error) {
	return p.Provider.(llm.ModelLister).Models(ctx)
}
