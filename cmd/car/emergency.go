package main

import (
	"sync"

	"car/internal/engine/tool"
	"car/internal/tools/substrate"
)

// emergency ends what runs when a person will not wait for an orderly end. It is
// used by whoever opens a place where hands act and by the listener of signals.
type emergency struct {
	mu    sync.Mutex
	hands []substrate.Killer
}

// owns remembers a place whose processes end with this one.
func (e *emergency) owns(s tool.Substrate) {
	if k, ok := s.(substrate.Killer); ok {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.hands = append(e.hands, k)
	}
}

// kill ends all of it and waits for nothing.
func (e *emergency) kill() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, k := range e.hands {
		k.Kill()
	}
}
