//go:build !linux

package main

// programs are what tests run as processes.
func programs() map[string]func() { return map[string]func(){"car": main} }
