// Package idem remembers the results of idempotent calls, so that the same call
// again answers what it answered before and runs once (E-IDEM). A journal makes
// the memory outlive the process.
//
// Invariants: only results that succeeded are kept; the same key in flight is
// waited for, never run twice side by side; a journal that cannot be written is
// told loudly and fails no action. The room imports ir and writes one file.
// Start at Store.Claim.
package idem
