package scaffold

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// T-SET-1: a scaffolded tool builds, passes its suite and is in the registry.
func TestNewToolWorks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files, err := Tool(dir, "probe_size")
	if err != nil || len(files) != 2 {
		t.Fatalf("%v %v", files, err)
	}
	registry, err := Registry(dir)
	if err != nil || !strings.Contains(string(registry), "probesize.New,") {
		t.Fatalf("%s %v", registry, err)
	}
	module, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	overlay := map[string]map[string]string{"Replace": {}}
	for _, f := range files {
		rel, _ := filepath.Rel(dir, f)
		overlay["Replace"][filepath.Join(module, "internal", "tools", rel)] = f
	}
	data, _ := json.Marshal(overlay)
	path := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(t.TempDir(), "probesize.test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", path, "-o", bin, "./internal/tools/probesize")
	build.Dir = module
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	suite := exec.Command(bin)
	suite.Dir = t.TempDir()
	if out, err := suite.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestNamesAreChecked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"", "CamelCase", "a-b", "a__b", "1a", "../x", "_a"} {
		if _, err := Tool(dir, name); err == nil {
			t.Errorf("%q was accepted", name)
		}
	}
	if _, err := Tool(dir, "twice"); err != nil {
		t.Fatal(err)
	}
	if _, err := Tool(dir, "twice"); err == nil {
		t.Error("an existing tool was overwritten")
	}
}
