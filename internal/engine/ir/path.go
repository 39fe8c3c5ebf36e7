package ir

import (
	"strconv"
	"strings"
	"unicode"
)

// PathError says what is wrong with a value and where it stands, as in
// "actions[0].type: unknown action type \"x\"". Path is empty for the whole value.
type PathError struct {
	Path    string
	Problem string
	// Offset is how many bytes of the text were read when the problem was found;
	// CheckText alone sets it.
	Offset int
}

// Error returns the path and the problem.
func (e *PathError) Error() string {
	if e.Path == "" {
		return e.Problem
	}
	return e.Path + ": " + e.Problem
}

// in puts a member name before the path; nil stays nil.
func (e *PathError) in(name string) *PathError {
	if e != nil {
		e.Path = joinPath(memberPath(name), e.Path)
	}
	return e
}

// at puts an index before the path; nil stays nil.
func (e *PathError) at(index int) *PathError {
	if e != nil {
		e.Path = joinPath(indexPath(index), e.Path)
	}
	return e
}

func indexPath(index int) string { return "[" + strconv.Itoa(index) + "]" }

// memberPath writes a name as it stands in a path: plain where that is
// unmistakable, else quoted in brackets.
func memberPath(name string) string {
	plain := name != ""
	for _, r := range name {
		if r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			plain = false
		}
	}
	if plain {
		return name
	}
	return "[" + strconv.Quote(name) + "]"
}

// joinPath appends a relative path to a parent.
func joinPath(parent, child string) string {
	if parent == "" || child == "" || strings.HasPrefix(child, "[") {
		return parent + child
	}
	return parent + "." + child
}
