package policy

import (
	"strings"
	"testing"
)

// G-TIER-2: the table is data; a row that says what nobody reads is a mistake.
func TestProgramTable(t *testing.T) {
	t.Parallel()
	known := handlers()
	seen := map[string]string{}
	used := map[string]bool{}
	for _, text := range []string{tableFiles, tableText, tableSystem, tableBuild, tableGit, tableNetwork, tableNever} {
		for line := range strings.SplitSeq(text, "\n") {
			if line == "" || line[0] == '#' {
				continue
			}
			if n := strings.Count(line, "|"); n != 4 {
				t.Errorf("row has %d bars: %s", n, line)
				continue
			}
			names, p := parseRow(line)
			for name := range strings.SplitSeq(names, ",") {
				if other, ok := seen[name]; ok {
					t.Errorf("%q stands in two rows: %.60s and %.60s", name, other, line)
				}
				seen[name] = line
			}
			class := p.class
			if c, def, ok := strings.Cut(class, ":"); ok {
				if c == "deny" {
					class = "fact"
				} else {
					class = def
				}
			}
			if _, ok := classOf(class); !ok && class != "sub" {
				t.Errorf("%s: unknown class %q", names, p.class)
			}
			if p.check != "" {
				used[p.check] = true
				if _, ok := known[p.check]; !ok {
					t.Errorf("%s: unknown handler %q", names, p.check)
				}
			}
			for name, o := range p.opts {
				if !strings.HasPrefix(name, "-") || o.takes && !strings.ContainsRune("trmwdpcoebxszhylku", rune(o.role)) {
					t.Errorf("%s: option %q has role %q", names, name, o.role)
				}
			}
		}
	}
	for name := range known {
		if !used[name] {
			t.Errorf("no row uses the handler %q", name)
		}
	}
}
