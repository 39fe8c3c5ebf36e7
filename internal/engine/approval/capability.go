package approval

import (
	"path"
	"slices"
	"strings"
)

// capability is credentials that a program uses by its own configuration, by
// the first words of a parsed command (A-APPR-4).
type capability struct {
	words []string
	label string
}

var capabilities = []capability{
	{[]string{"git", "push"}, "git:configured-remote"},
	{[]string{"az"}, "azure:active-account"},
	{[]string{"aws"}, "aws:active-profile"},
	{[]string{"gcloud"}, "gcloud:active-account"},
	{[]string{"kubectl"}, "kubernetes:current-context"},
	{[]string{"terraform"}, "terraform:configured-backend"},
	{[]string{"gh"}, "github:active-account"},
	{[]string{"docker", "push"}, "docker:configured-registry"},
	{[]string{"npm", "publish"}, "npm:configured-registry"},
	{[]string{"ssh"}, "ssh:agent"},
	{[]string{"psql"}, "database:project-configured"},
	{[]string{"mysql"}, "database:project-configured"},
	{[]string{"sqlite3"}, "database:project-configured"},
	{[]string{"mongosh"}, "database:project-configured"},
	{[]string{"redis-cli"}, "database:project-configured"},
	{[]string{"alembic"}, "database:project-configured"},
	{[]string{"flyway"}, "database:project-configured"},
	{[]string{"goose"}, "database:project-configured"},
}

// CapabilitiesOf labels the credentials that parsed commands would use, sorted
// and unique. It reads words in command position, never substrings.
func CapabilitiesOf(commands [][]string) []string {
	labels := []string{}
	for _, words := range commands {
		for _, c := range capabilities {
			if startsWith(words, c.words) && !slices.Contains(labels, c.label) {
				labels = append(labels, c.label)
			}
		}
	}
	slices.Sort(labels)
	return labels
}

// startsWith compares the program and its leading words. Options between them do
// not hide a subcommand, nor does the value of one: in doubt the label is shown.
func startsWith(words, want []string) bool {
	if len(words) == 0 || path.Base(words[0]) != want[0] {
		return false
	}
	rest, option := words[1:], false
	for _, w := range want[1:] {
		for len(rest) > 0 && rest[0] != w && (option || strings.HasPrefix(rest[0], "-")) {
			option = strings.HasPrefix(rest[0], "-") && !strings.Contains(rest[0], "=")
			rest = rest[1:]
		}
		if len(rest) == 0 || rest[0] != w {
			return false
		}
		rest = rest[1:]
	}
	return true
}
