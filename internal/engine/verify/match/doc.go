// Package match compares what an action would do with patterns that people write:
// `run` words, path globs and host names. It is shared by the rooms that read such
// patterns, so that one spelling means one thing in all of them.
//
// Functions are pure and bounded by the length of their arguments. It may import
// the standard library alone.
package match
