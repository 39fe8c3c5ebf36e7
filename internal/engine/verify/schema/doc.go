// Package schema checks parameters against a tool's JSON Schema and says, in our
// own words, everything that is wrong with them (V-SCHEMA). It is pure, fetches
// nothing, and never puts a value of a call into a message.
//
// A check has two passes. The first is the reference's subset with its texts: what
// is required and the declared types of root parameters. The second is the library,
// for every keyword of the schema's draft. A schema that the library cannot use, or
// that would cost too much, is degraded: it says so and keeps the first pass.
//
// Start at Compile for one schema, NewSet for those of all tools. A new keyword
// gets its sentence in leaf.go. It imports ir, its neighbour report and the library.
package schema
