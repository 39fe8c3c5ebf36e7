// Package block turns what tools show (ir.Block) into lines of the screen. It knows
// kinds of block and no tools (architecture: tools return blocks, not pictures).
//
// Every function is pure. Every text of a block is filtered here (P-TERM-1), so a
// caller may print what it gets. A line is never wider than asked; text which is
// too long is folded, not cut, because a person may be about to approve it
// (P-GUARD-2). Only Bound leaves lines out, and says how many.
//
// To add a kind: a case in Lines and in summary, and a row in each test.
package block
