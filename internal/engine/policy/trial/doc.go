// Package trial tries a policy on calls whose answers are known: the rows of a corpus,
// the cases of a project's tests.toml (G-POL-6). A row's facts are built as real files
// in a throwaway folder, the call is judged as the runtime would judge it, and nothing
// is run.
//
// Invariants: the folder is gone afterwards; a row can not reach outside of it, since
// its facts are files that Case refuses elsewhere; the same row gives the same answer
// on every machine, because no child is confined there and the home is the folder's.
//
// To add a kind of fact: a case in build (facts.go) and a line in docs/spec/corpus.md.
// It imports ir, tool and policy.
package trial
