package store_test

import (
	"testing"

	"car/internal/engine/ir"
)

// G-TRUST-2, D-31: trust is in one content of one file of one real root; a change
// ends it, and it can be taken back.
func TestTrustIsInOneContent(t *testing.T) {
	t.Parallel()
	c, path := newClock(), newPath(t)
	db := openAt(t, path, c)
	must(t, db.TrustDigests(t.Context(), "/p", map[string]ir.Digest{".car/config.toml": "d1", ".car/mcp.toml": "d2"}))
	must(t, db.TrustDigests(t.Context(), "/q", map[string]ir.Digest{".car/config.toml": "d1"}))
	must(t, db.TrustDigests(t.Context(), "/p", map[string]ir.Digest{".car/config.toml": "d3"}))

	again := openAt(t, path, c)
	check := func(root, file string, digest ir.Digest, want bool) {
		t.Helper()
		if got, err := again.Trusted(t.Context(), root, file, digest); err != nil || got != want {
			t.Errorf("%s %s %s trusted: %v, %v, want %v", root, file, digest, got, err, want)
		}
	}
	check("/p", ".car/config.toml", "d3", true)
	check("/p", ".car/config.toml", "d1", false)
	check("/p", ".car/config.toml", "", false)
	check("/q", ".car/config.toml", "d1", true)
	check("/q", ".car/mcp.toml", "d2", false)
	check("/p", ".car/mcp.toml", "d2", true)

	if files, err := again.TrustedFiles(t.Context(), "/p"); err != nil || len(files) != 2 || files[0].Path != ".car/config.toml" || !files[0].At.Equal(c.now()) {
		t.Errorf("trusted in /p: %+v, %v", files, err)
	}
	if n, err := again.RevokeTrust(t.Context(), "/p", ".car/mcp.toml"); err != nil || n != 1 {
		t.Errorf("revoked %d, %v, want 1", n, err)
	}
	check("/p", ".car/mcp.toml", "d2", false)
	check("/p", ".car/config.toml", "d3", true)
	if n, err := again.RevokeTrust(t.Context(), "/p", ""); err != nil || n != 1 {
		t.Errorf("revoked %d, %v, want the last one", n, err)
	}
	if all, err := again.TrustedFiles(t.Context(), ""); err != nil || len(all) != 1 {
		t.Errorf("trusted anywhere: %+v, %v, want /q's", all, err)
	}
}
