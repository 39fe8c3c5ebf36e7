package block

import (
	"encoding/json"
	"fmt"
	"strings"

	"car/internal/engine/ir"
	"car/internal/tui/safe"
)

// Summary is one line about a result (U-TUI-3): what its blocks say, or the first
// line of its excerpt where there are none. It is filtered but not cut.
func Summary(blocks []ir.Block, excerpt string) string {
	var words []string
	for _, b := range blocks {
		if w := summary(b); w != "" {
			words = append(words, w)
		}
	}
	if len(words) == 0 {
		return firstLine(Said(excerpt))
	}
	return strings.Join(words, ", ")
}

// Said is what an excerpt says to a person: the words of an error where it is a JSON
// object that holds one, else the excerpt as it is.
func Said(excerpt string) string {
	var result struct {
		Error string `json:"error"`
	}
	if json.Unmarshal([]byte(excerpt), &result) == nil && result.Error != "" {
		return result.Error
	}
	return excerpt
}

func summary(b ir.Block) string {
	switch b.Kind {
	case ir.BlockDiff:
		added, removed := DiffCount(b.Text)
		return strings.TrimSpace(fmt.Sprintf("%s +%d -%d", safe.Line(b.Title), added, removed))
	case ir.BlockTable:
		return Count(len(b.Rows)+int(b.Omitted), "row")
	case ir.BlockFiles:
		return Count(len(b.Rows)+int(b.Omitted), "file")
	case ir.BlockExit:
		if b.Exit != nil {
			return exitWords(*b.Exit)
		}
		return ""
	case ir.BlockCommands:
		return Count(len(b.Commands), "command")
	default:
		line := firstLine(b.Text)
		if n := strings.Count(strings.TrimRight(b.Text, "\n"), "\n"); n > 0 && line != "" {
			return fmt.Sprintf("%s (+%s)", line, Count(n, "line"))
		}
		return line
	}
}

func firstLine(text string) string {
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			return safe.Line(line)
		}
	}
	return ""
}
