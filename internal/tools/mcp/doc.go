// Package mcp lends the tools of MCP servers, which people configure, to a session
// (T-MCP): programs that are spoken to over their streams, and services over HTTP.
//
// A Fleet holds the servers. Nothing is started for a session that knows a server's
// tools from an earlier one: they are pinned (Pins), offered as they were, and the
// server starts with the first call. A server that nobody met is met when the
// session opens, all at once, within a bound. What a server offers later, or changes,
// is not used before a person has seen it. One that is dead fails alone: its tools
// say so, and each call tries it once more, with growing pauses.
//
// Servers are trusted with nothing: their words are cleaned, their names take no
// other tool's, their results are fenced and masked, lines that are no messages are
// dropped, and what they send is bounded. They are offered no roots, no sampling and
// no questions.
//
// It imports engine/ir, engine/tool, the rooms of the tools and the official SDK.
// Processes are the substrate's (Config.Servers), HTTP is webclient's. Start reading
// at fleet.go.
package mcp
