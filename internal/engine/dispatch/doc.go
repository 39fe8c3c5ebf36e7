// Package dispatch lets an admitted action act, once a ticket: it compares what
// was approved with what would run, writes the durable intent row, lends the tool
// an Env that can do what the ticket says and no more, bounds it in time, and
// writes the outcome row before the result leaves the engine (E-EXEC, E-PIPE-9..10).
//
// Env is built here over a tool.Substrate: files.go confines reads and writes to
// what was declared, the writer journals every change with digests, spawn.go
// cleans, redacts and bounds what a process says. A tool cannot reach anything else.
//
// It may import the engine's lower rooms and admit. It decides nothing about
// permission. Start at Dispatcher.Run.
package dispatch
