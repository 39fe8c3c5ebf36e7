// Package approval is the one owner of scopes, decisions and every effect's
// state machine (E-PIPE-10, A-APPR-6..8): what exactly was asked for, who said
// yes or no, that it was dispatched, and how it ended.
//
//	proposed ── approved ── dispatched ── completed
//	    │                        ├─────── failed
//	    └────── denied           └─────── indeterminate
//
// Nothing else moves; the four on the right and denied are terminal. Each move
// is one durable transaction of the Store before the thing it speaks of
// happens: the row is proposed before anybody is asked, the decision stands
// before it is used, dispatched stands before the effect starts, and the outcome
// before the result leaves the engine. A move that cannot be written is a
// refusal. Effects found dispatched when a session opens are indeterminate:
// they are shown and never run again by themselves (P-WORK-6).
//
// The package imports ir only; assistant/store implements Store.
package approval
