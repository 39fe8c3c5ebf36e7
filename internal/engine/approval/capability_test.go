package approval_test

import (
	"slices"
	"strings"
	"testing"

	"car/internal/engine/approval"
)

// A-APPR-4: capabilities come from words in command position, never substrings.
func TestCapabilities(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		commands string
		want     string
	}{
		{"git push origin main", "git:configured-remote"},
		{"git -C sub push", "git:configured-remote"},
		{"git --git-dir=x/.git push", "git:configured-remote"},
		{"git --no-pager -c a=b push", "git:configured-remote"},
		{"/usr/bin/git push", "git:configured-remote"},
		{"git log push", ""},
		{"git --git-dir=x/.git log push", ""},
		{"git commit -m push", ""},
		{"git", ""},
		{"echo git push", ""},
		{"az account show", "azure:active-account"},
		{"echo az aws", ""},
		{"cat az.txt", ""},
		{"docker --context x push img", "docker:configured-registry"},
		{"docker run push", ""},
		{"npm publish", "npm:configured-registry"},
		{"ssh host ls", "ssh:agent"},
		{"psql -c select", "database:project-configured"},
		{"sqlite3 a.db | mysql x", "database:project-configured"},
		{"terraform plan | aws s3 ls | gh pr list | kubectl get pods | gcloud info", "aws:active-profile gcloud:active-account github:active-account kubernetes:current-context terraform:configured-backend"},
		{"", ""},
	} {
		var commands [][]string
		for _, one := range strings.Split(c.commands, " | ") {
			commands = append(commands, strings.Fields(one))
		}
		got := approval.CapabilitiesOf(commands)
		if !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%q uses %q, want %q", c.commands, got, c.want)
		}
		if got == nil {
			t.Errorf("%q: none is nil, want an empty list", c.commands)
		}
	}
}
