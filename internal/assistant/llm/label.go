package llm

import (
	"fmt"
	"strings"
)

// labelOf returns the stored label of an enum value; an unlisted value prints as
// "unknown(n)", which no decoder accepts.
func labelOf[T ~uint8](table []string, v T) string {
	if int(v) < len(table) && table[v] != "" {
		return table[v]
	}
	return fmt.Sprintf("unknown(%d)", uint8(v))
}

// parseLabel finds a label in its table. The error lists what would do.
func parseLabel[T ~uint8](kind string, table []string, text string) (T, error) {
	known := make([]string, 0, len(table))
	for i, label := range table {
		if label == "" {
			continue
		}
		if label == text {
			return T(i), nil
		}
		known = append(known, label)
	}
	return 0, fmt.Errorf("unknown %s %q (one of %s)", kind, text, strings.Join(known, ", "))
}
