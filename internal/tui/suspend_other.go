//go:build !unix

package tui

import (
	"errors"

	tea "github.com/charmbracelet/bubbletea"
)

// stopSelf is for systems with job control.
func stopSelf() error { return errors.New("this system can not suspend a program") }

func (t *terminal) watchStops() {}

func (t *terminal) suspends(*tea.Program) func() { return func() {} }
