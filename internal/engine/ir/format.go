package ir

import "strings"

// rolledBackLine leads the result of a success that was undone, so that no reader
// takes it for one that stands (F-15).
const rolledBackLine = "rolled_back: true"

// FormatResult is an action's result as a model reads it (E-REND-1): the rendered
// output of a success, or how it ended in brackets and why.
func FormatResult(r ActionResult) string { return formatWith(r, Render) }

// FormatJSON is FormatResult with the output as compact JSON, for records.
func FormatJSON(r ActionResult) string { return formatWith(r, compact) }

func formatWith(r ActionResult, render func(any) string) string {
	switch r.Status {
	case Succeeded:
		return formatSuccess(r, render)
	case Failed, Rejected:
		return "[" + strings.ToUpper(r.Status.String()) + "] " + r.Error
	}
	label := r.Status.String()
	return "[" + strings.ToUpper(label[:1]) + label[1:] + "] " + r.Error
}

func formatSuccess(r ActionResult, render func(any) string) string {
	text := ""
	if r.Output != nil {
		text = render(r.Output)
	}
	if !r.RolledBack {
		return text
	}
	if text == "" {
		return rolledBackLine
	}
	return rolledBackLine + "\n" + text
}
