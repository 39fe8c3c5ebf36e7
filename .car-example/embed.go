// Package carexample carries a complete `.car/` folder, the scenario of
// `car do --demo` and the small project that it works on, so that the installed
// binary can write them anywhere.
//
// The folder's name begins with a dot, so `./...` leaves it out and only an
// explicit import finds it. The demo's module file is kept as go.mod.txt, because
// embedding leaves out every folder with a go.mod; whoever writes the project out
// renames it. It imports nothing of this module.
//
// A new file of `.car/` goes into Folder and into the table of README.md beside it.
package carexample

import "embed"

// Folder holds the files of `.car/`, at their paths within it.
//
//go:embed config.toml policies intent.json tool-labels.json production-gates.toml tools.toml mcp.toml
var Folder embed.FS

// Demo holds the project that the demo works on, below demo.
//
//go:embed demo
var Demo embed.FS

// Scenario is what the demo's model says, in the scripted provider's format.
//
//go:embed demo.toml
var Scenario []byte
