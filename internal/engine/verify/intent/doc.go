// Package intent decides whether actions belong to what somebody was asked to do
// (V-INTENT, after VIGIL). A spec says what is meant: tools, paths, hosts, commands,
// and capabilities that are never meant. Check sorts actions into in_intent, drift,
// tainted_drift and forbidden; Decide says what that is worth.
//
// Taint prices leaving the intent, not acting inside it. What an action would do
// arrives as facts, which policy finds out; nothing here reads a command.
//
// The package may import ir, verify/report and verify/match. A new capability is a
// constant with its line in the label table.
package intent
