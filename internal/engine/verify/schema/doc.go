// Package schema checks parameters against a tool's JSON Schema and says, in our
// own words, everything that is wrong with them (V-SCHEMA). It is pure, fetches
// nothing, and never puts a value into a message.
//
// Start at Compile. A new keyword gets its sentence in leaf.go.
package schema
