// Package render writes what the verify rooms found as text for people, so that the
// author of a broken plan can mend it from what stands there (V-CLI-3, V-CLI-4): the
// verdict first, each finding with why and what to do, then what was not looked at.
//
// It is pure: how wide the terminal is, whether it has colours and how text is
// escaped and measured are the caller's to say. Everything that a model or a file
// wrote is escaped. JSON is not made here: the results themselves are the wire form.
//
// One function for each result, one file for each; page.go is what they share. It
// imports ir and its neighbours.
package render
