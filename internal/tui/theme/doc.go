// Package theme is what the screen looks like: a palette, a set of glyphs, and what
// the terminal can do, read once from its environment.
//
// A Theme is a value that every View takes. The palette uses the terminal's own
// sixteen colours, so that it fits whatever scheme the person chose; meaning never
// hangs on colour alone, because NO_COLOR and colour-blind eyes get the same words.
// Nothing here asks the terminal anything; who knows its background says so.
//
// To add a style: a field of Theme with a comment that says what it marks.
package theme
