// Package wire is HTTP as every provider adapter needs it: one client that goes
// to one host with its key, answers read as bounded server-sent events with a
// timer on silence, and failures of all kinds turned into *llm.Error.
//
// Start at Client.Do. An adapter builds a body and headers, gets an Answer, and
// reads its Events; it decides what they mean.
//
// Invariants:
//
//   - No client-wide timeout: a long reply is not a late one. The first byte has a
//     limit, and each silence after it has another; time that the caller takes
//     between two reads counts for neither.
//   - Everything read is bounded: an event, an error body, a whole JSON answer.
//   - Keys go to the host of the base URL only: redirects are not followed. No key,
//     no header value, no proxy password and no body is in an error or a log.
//   - Nothing ambient: proxy, certificates, clock and keys come in through Config.
//   - An Answer that was closed, finished or canceled leaves no goroutine; Client.Close drops idle connections.
//
// The package may import llm and net/http. It is shared by the adapters; a new
// provider adds nothing here, or one row to a table of failure.go.
package wire
