//go:build !linux

package main

import "os"

// discardInput does nothing where the terminal can not be told to; enter alone
// answers nothing.
func discardInput(*os.File) {}
