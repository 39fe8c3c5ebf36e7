// Package trace holds bounded temporal rules over what happened (V-TRACE): five
// forms of linear temporal logic on finite traces, each a small monitor.
//
// Compile turns rules into Rules; Rules.Monitor makes a monitor of a fresh trace.
// Would asks without changing anything, Observe adds an event, End closes the trace.
// The law: Would(e) is empty exactly when Observe(e) adds no violation. A monitor is
// for one goroutine; whoever enforces rules holds one lock over Would and Observe.
//
// The package may import ir, verify/report and verify/match. A new form is a file
// with a monitor, a field of Rule, and its line in compileOne.
package trace
