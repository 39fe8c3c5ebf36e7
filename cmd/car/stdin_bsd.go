//go:build unix && !linux

package main

// fionread is FIONREAD of the BSDs and of macOS, which x/sys does not name everywhere.
const fionread = 0x4004667f
