// Package tools is the set of hands that a session has: one directory a tool,
// found by the registry that `go generate` writes from the directories.
//
// A tool declares what a call would do and acts through tool.Env; it asks for
// nothing, judges nothing, and touches no file, process or network itself. Only
// substrate does. The rooms beside the tools are what several of them share:
//
//	wire       parameters and results as structs
//	textfile   encodings, line ends, diffs
//	change     an existing file on its way to new content
//	walk       a tree in order, past what git ignores
//	gitignore  ignore files, matched as git does
//	tooltest   the suite every tool passes, and a house to act in
//
// To add a tool: `go run ./internal/tools/newtool <name>` writes its directory,
// its suite and its line in the registry. Rooms of the tools import engine/ir and
// engine/tool, each other, and nothing else of this module.
package tools
