package store

import "fmt"

// labelOf returns the stored label of an enum value; the zero value has none.
func labelOf[T ~uint8](table []string, v T) string {
	if int(v) < len(table) && v > 0 {
		return table[v]
	}
	return fmt.Sprintf("unknown(%d)", uint8(v))
}

// parseLabel finds a stored label in its table.
func parseLabel[T ~uint8](kind string, table []string, text string) (T, error) {
	for i, label := range table {
		if i > 0 && label == text {
			return T(i), nil
		}
	}
	return 0, fmt.Errorf("unknown %s %q", kind, text)
}
