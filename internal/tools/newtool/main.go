// Command newtool adds a tool: `go run ./internal/tools/newtool count_lines`
// writes the directory internal/tools/countlines with a tool that works, its suite
// and its line in the registry. Without a name it writes the registry alone, which
// is what `go generate ./internal/tools/...` does.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"car/internal/tools/scaffold"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "newtool:", err)
		os.Exit(1)
	}
}

// run finds the tools' directory from the module's root or from the directory itself.
func run(args []string) error {
	dir := "internal/tools"
	if _, err := os.Stat(filepath.Join("scaffold", "templates")); err == nil {
		dir = "."
	}
	if len(args) > 1 {
		return fmt.Errorf("one name at most, not %d", len(args))
	}
	for _, name := range args {
		files, err := scaffold.Tool(dir, name)
		if err != nil {
			return err
		}
		for _, f := range files {
			fmt.Fprintln(os.Stdout, f)
		}
	}
	return scaffold.Update(dir)
}
