package grepfiles

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"car/internal/engine/tool"
	"car/internal/tools/tooltest"
)

// BenchmarkSearch searches ten thousand files of some 8 KB in a thousand folders (D-27).
func BenchmarkSearch(b *testing.B) {
	h := tooltest.Open(b, time.Now)
	body := strings.Repeat("func (s *server) handle(w writer, r *request) error {\n\treturn s.next.handle(w, r)\n}\n\n", 90)
	for i := range 10_000 {
		h.Put(b, fmt.Sprintf("d%02d/e%02d/f%05d.go", i%32, i%1000/32, i), body+fmt.Sprintf("// Needle %d\n", i))
	}
	gf := New(tool.Bindings{})
	for name, params := range map[string]map[string]any{
		"literal":    {"pattern": "Needle 777", "literal": true},
		"regexp":     {"pattern": `^// Needle \d*99$`},
		"ignorecase": {"pattern": "needle 777", "ignore_case": true},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if out := h.Must(b, gf, params); out["partial"] == true {
					b.Fatal("partial")
				}
			}
		})
	}
}
