// Package span records how long things took, as traces that other tools draw: a
// span for a proposal, and below it one for each of its actions (E-LOG-4).
//
// Invariants. A span is ended once; one that is still open when its trace's root
// ends is ended with it, so that no path leaves one behind. A trace is handed on
// whole, when its root has ended. Spans carry names and ids, never values: what an
// action was given or brought stays in the record. They are for looking, so a trace
// that cannot be written stops nothing; Close says so.
//
// The export is OTLP as JSON lines, to whatever is written to; nothing is sent
// anywhere. A collector reads such files (its otlpjsonfile receiver). The room
// imports nothing of this module. Start at Recorder; a nil one records nothing.
package span
