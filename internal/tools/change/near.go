package change

import (
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"car/internal/engine/tool"
	"car/internal/tools/wire"
)

// Missing is the failure for a path where nothing is. It names up to three
// files of the same folder whose names are like it: other letter case, other
// Unicode form, a few characters off (T-FILE-14).
func Missing(files tool.Files, p string) error {
	dir, base := path.Split(strings.TrimRight(p, "/"))
	parent := dir
	if parent == "" {
		parent = "."
	}
	entries, err := files.ReadDir(parent)
	if err != nil {
		return wire.Fault(tool.NotFound, "no such file: %q; the folder %q is not there either", p, parent)
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	near := nearest(base, names)
	if len(near) == 0 {
		return wire.Fault(tool.NotFound, "no such file: %q; look with list_dir or find_files", p)
	}
	for i := range near {
		near[i] = `"` + dir + near[i] + `"`
	}
	return wire.Fault(tool.NotFound, "no such file: %q; did you mean %s?", p, strings.Join(near, ", "))
}

// nearest picks at most three names that are like name, the likest first.
func nearest(name string, names []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	want := fold(name)
	for _, n := range names {
		if d := distance(want, fold(n), max(2, len(want)/3)); d >= 0 {
			found = append(found, candidate{n, d})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.distance - b.distance })
	var best []string
	for _, c := range found[:min(3, len(found))] {
		best = append(best, c.name)
	}
	return best
}

func fold(s string) string { return strings.ToLower(norm.NFC.String(s)) }

// distance is the edit distance of two names, -1 when it is over limit.
func distance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) > limit || len(y)-len(x) > limit || len(x) > 255 || len(y) > 255 {
		return -1
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := diagonal
			if x[i] != y[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	if d := row[len(y)]; d <= limit {
		return d
	}
	return -1
}
