package redact

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type row struct {
	ID, Class, Text, Expect string
	Hide, Keep              []string
}

// rows reads the corpus; {{+}} splits strings that scanners would take for keys.
func rows(t testing.TB) []row {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "corpus", "redaction.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []row
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		var r row
		line := strings.ReplaceAll(sc.Text(), "{{+}}", "")
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	if len(out) == 0 {
		t.Fatal("the corpus is empty")
	}
	return out
}

// G-REDACT-1, G-TIER-5: every row of the corpus.
func TestCorpus(t *testing.T) {
	t.Parallel()
	r := New(nil)
	for _, row := range rows(t) {
		got, n := r.String(row.Text)
		switch row.Expect {
		case "keep":
			if got != row.Text || n != 0 {
				t.Errorf("%s %s: %q must stay, became %q", row.ID, row.Class, row.Text, got)
			}
		case "redact":
			for _, h := range row.Hide {
				if strings.Contains(got, h) {
					t.Errorf("%s %s: %q still holds %q", row.ID, row.Class, got, h)
				}
			}
			for _, k := range row.Keep {
				if !strings.Contains(got, k) {
					t.Errorf("%s %s: %q lost %q", row.ID, row.Class, got, k)
				}
			}
			if n == 0 {
				t.Errorf("%s %s: no hit counted", row.ID, row.Class)
			}
		}
	}
}
