package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// sessionsFolder is where every session has a folder of its own, named by its id.
const sessionsFolder = "sessions"

// logName is a session's event log within its folder.
const logName = "events.jsonl"

// sessionDir is the folder of a session.
func sessionDir(home, id string) string { return filepath.Join(home, sessionsFolder, id) }

// sessionLog is the path of a session's event log.
func sessionLog(home, id string) string { return filepath.Join(sessionDir(home, id), logName) }

// findSession returns the one session whose id begins with prefix; an empty prefix
// is the newest. Ids are ordered in time, so the last name is the newest.
func findSession(home, prefix string) (string, error) {
	entries, err := os.ReadDir(filepath.Join(home, sessionsFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	var found []string
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), prefix) {
			found = append(found, e.Name())
		}
	}
	switch {
	case len(found) == 0 && prefix == "":
		return "", usageError(errors.New("there is no session yet"), "car do --demo")
	case len(found) == 0:
		return "", usageError(fmt.Errorf("no session begins with %q", prefix), "ls "+filepath.Join(home, sessionsFolder))
	case prefix == "", found[0] == prefix, len(found) == 1:
		if prefix == "" {
			return found[len(found)-1], nil
		}
		return found[0], nil
	}
	return "", usageError(fmt.Errorf("%d sessions begin with %q: %s", len(found), prefix, strings.Join(found, ", ")), "give more of the id")
}
