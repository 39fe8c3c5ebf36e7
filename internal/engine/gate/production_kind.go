package gate

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/policy"
)

// Kind is a kind of command with consequences (G-PROD-1). The zero value is unset.
type Kind uint8

// The kinds.
const (
	KindUnset Kind = iota
	Database
	Deployment
	ProductionWrite
	Push
	Publish
)

func kindLabels() []string {
	return []string{Database: "database", Deployment: "deployment", ProductionWrite: "production_write", Push: "push", Publish: "publish"}
}

// String returns the label of configuration files.
func (k Kind) String() string {
	if labels := kindLabels(); int(k) < len(labels) && k != KindUnset {
		return labels[k]
	}
	return fmt.Sprintf("unknown(%d)", uint8(k))
}

// MarshalText writes the label.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a label; an unknown one is an error.
func (k *Kind) UnmarshalText(b []byte) error {
	for i, label := range kindLabels() {
		if label != "" && label == string(b) {
			*k = Kind(i)
			return nil
		}
	}
	return fmt.Errorf("unknown action %q (one of %s)", b, strings.Join(kindLabels()[1:], ", "))
}

// kindsOf are the kinds of an action, by its parsed commands; ascending, each once.
func kindsOf(j policy.Judgement) []Kind {
	var kinds []Kind
	for k := Database; k <= Publish; k++ {
		if slices.ContainsFunc(j.Programs, func(p policy.Program) bool { return k.names(p) }) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// names reports whether a program is of the kind. What only looks is of none, and a
// wrapper is nothing but what it runs.
func (k Kind) names(p policy.Program) bool {
	if len(p.Words) == 0 || p.Wraps || p.Class == "read" || p.Class == "echo" || p.Class == "fact" {
		return false
	}
	switch k {
	case Database:
		return worksOnDatabase(p)
	case Deployment:
		return deploys(p)
	case ProductionWrite:
		return writesProduction(p)
	case Push:
		return pushes(p)
	case Publish:
		return publishes(p)
	}
	return false
}

// worksOnDatabase knows clients by the table, and everything that is told to migrate
// or to do something with a db.
func worksOnDatabase(p policy.Program) bool {
	if p.Class == "database" && (p.Tier >= ir.FullAccess || p.Remote) {
		return true
	}
	if p.Words[0] == "dotnet" && len(p.Words) > 2 && p.Words[1] == "ef" && p.Words[2] == "database" {
		return true
	}
	return speaksOf(p, "migrate", "migration", "migrations", "migrating") || slices.ContainsFunc(positions(p)[1:], func(w string) bool {
		words := segments(w)
		return len(words) > 0 && words[0] == "db" || slices.Contains(clients(), path.Base(w))
	})
}

// clients are the database clients that are recognised where another program is told
// to run them, as in a container.
func clients() []string {
	return []string{"psql", "pg_restore", "pg_dump", "dropdb", "createdb", "mysql", "mariadb", "mysqldump", "mysqladmin", "mongosh", "mongo", "mongorestore", "redis-cli", "valkey-cli",
		"sqlcmd", "sqlplus", "cqlsh", "clickhouse-client", "cockroach", "prisma", "knex", "alembic", "flyway", "liquibase", "typeorm", "sequelize", "dbmate"}
}

// speaksOf looks for a word in command, subcommand or script position: the program's
// own name, and what a runner is told to run. Options, their values, commit messages
// and further arguments are no such position.
func speaksOf(p policy.Program, words ...string) bool {
	for _, name := range positions(p) {
		for _, segment := range segments(name) {
			if slices.Contains(words, segment) {
				return true
			}
		}
	}
	return false
}

// positions are the words of a command that say what runs: its name, and of a runner
// the script and its subcommands.
func positions(p policy.Program) []string {
	name := path.Base(p.Words[0])
	found := []string{name}
	depth, script := depthOf(p, name), false
	for i, w := range p.Words[1:] {
		if strings.HasPrefix(w, "-") || i > 0 && takesText(p.Words[i]) {
			continue
		}
		if depth--; depth < 0 {
			break
		}
		// One path is the script; what comes behind it are files.
		isPath := strings.ContainsAny(w, "/.")
		if !isPath || !script {
			found = append(found, w)
		}
		script = script || isPath
	}
	return found
}

// depthOf is how many operands of a program say what runs.
func depthOf(p policy.Program, name string) int {
	word := ""
	if len(p.Words) > 1 {
		word = p.Words[1]
	}
	is := func(names ...string) bool { return slices.Contains(names, name) }
	switch {
	case is("npm", "yarn", "pnpm", "bun") && slices.Contains([]string{"install", "i", "add", "ci", "remove", "uninstall", "update", "upgrade", "create", "init"}, word):
		return 0
	case is("docker", "podman", "nerdctl", "docker-compose", "podman-compose", "kubectl", "k", "oc", "heroku", "fly", "flyctl") &&
		slices.ContainsFunc(p.Words, func(w string) bool { return w == "exec" || w == "run" || w == "ssh" || w == "--" }):
		return len(p.Words) // runs a command elsewhere
	case p.Class == "script", p.Class == "code", p.Class == "program", p.Class == "" && !p.Remote,
		is("make", "just", "task", "rake", "rails", "npm", "npx", "yarn", "pnpm", "bun", "bunx", "pnpx", "uvx", "pipx", "mix", "gradle", "gradlew", "mvn", "sbt", "composer", "artisan", "poetry", "uv"):
		return 4
	case p.Remote, p.Class == "daemon":
		return 1
	}
	return 0
}

// takesText reports options whose value is text for people.
func takesText(w string) bool {
	switch w {
	case "-m", "--message", "-t", "--title", "-b", "--body", "-d", "--description", "-c", "-e", "--grep", "--filter", "-run", "-k":
		return true
	}
	return false
}

// segments are the words of a name: snake, kebab and camel, in lower case.
func segments(name string) []string {
	var b strings.Builder
	previous := ' '
	for _, r := range name {
		if r >= 'A' && r <= 'Z' && (previous >= 'a' && previous <= 'z') {
			b.WriteByte(' ')
		}
		previous = r
		b.WriteRune(r)
	}
	return strings.FieldsFunc(strings.ToLower(b.String()), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
}

// deploys reports programs that put something into service.
func deploys(p policy.Program) bool {
	words := p.Words
	first := func(names ...string) bool { return slices.Contains(names, path.Base(words[0])) }
	has := func(names ...string) bool {
		return slices.ContainsFunc(words[1:], func(w string) bool { return slices.Contains(names, w) })
	}
	switch {
	case first("kubectl", "k", "oc"):
		return has("apply", "create", "replace", "patch", "set", "scale", "delete", "edit", "autoscale", "drain", "cordon") ||
			has("rollout") && !behind(words, "rollout", "status", "history")
	case first("helm"):
		return has("install", "upgrade", "uninstall", "rollback", "delete")
	case first("terraform", "tofu", "terragrunt"):
		return has("apply", "destroy", "import", "taint", "untaint") || has("state") && has("rm", "mv", "push")
	case first("pulumi", "cdk", "sam", "sls", "serverless"):
		return has("up", "deploy", "destroy", "remove")
	case first("ansible-playbook", "cap", "dpl", "deployer", "kamal", "nomad", "skaffold", "waypoint"):
		return !flag(words, "--check", "--syntax-check", "--list-tasks", "--list-hosts")
	case first("docker", "podman"):
		return has("stack") && has("deploy") || has("service") && has("update", "create", "scale", "rollback")
	case first("vercel", "netlify", "fly", "flyctl", "heroku", "railway", "render", "wrangler", "firebase", "eb", "gcloud", "aws", "az", "argocd", "flux", "cf"):
		return slices.ContainsFunc(words[1:], func(w string) bool {
			return !strings.HasPrefix(w, "-") && slices.ContainsFunc(segments(w), func(s string) bool {
				return slices.Contains([]string{"deploy", "deployment", "promote", "up", "sync", "rollback"}, s)
			})
		})
	}
	return speaksOf(p, "deploy", "deployment", "deploys", "rollout", "rollback")
}

// publishes reports programs that put a package or a release before the public.
func publishes(p policy.Program) bool {
	words := p.Words
	has := func(names ...string) bool {
		return slices.ContainsFunc(words[1:], func(w string) bool { return slices.Contains(names, w) })
	}
	second := ""
	if len(words) > 1 {
		second = words[1]
	}
	switch path.Base(words[0]) {
	case "mail", "mailx", "mutt", "sendmail", "msmtp", "swaks", "ssmtp", "neomutt", "alpine":
		return false
	case "docker", "podman", "nerdctl", "buildah", "skopeo", "helm":
		return has("push") || words[0] == "skopeo" && has("copy", "sync")
	case "gh", "glab", "hub":
		return has("release") && has("create", "edit", "upload", "delete")
	case "goreleaser", "semantic-release", "np":
		return second != "check" && second != "healthcheck" && !flag(words, "--snapshot", "--dry-run")
	}
	if p.Class == "publish" {
		return !slices.Contains([]string{"login", "logout", "adduser", "owner", "check", "whoami"}, second)
	}
	return speaksOf(p, "publish")
}

// writesProduction reports commands that change what is named production: a host, a
// context, an environment. Commands that only look change nothing.
func writesProduction(p policy.Program) bool {
	if p.Tier < ir.FullAccess && !p.Remote {
		return false
	}
	if slices.ContainsFunc(p.Words[1:], looks) && !slices.ContainsFunc(p.Words[1:], changes) {
		return false
	}
	for _, w := range slices.Concat(p.Words, p.Env) {
		if slices.ContainsFunc(segments(w), func(s string) bool { return s == "prod" || s == "production" }) {
			return true
		}
	}
	return false
}

// looks reports subcommands that only look.
func looks(w string) bool {
	switch w {
	case "get", "describe", "logs", "list", "ls", "show", "status", "view", "plan", "diff", "cat", "head", "tail", "top", "explain", "version", "whoami", "history", "events":
		return true
	}
	return false
}

// changes reports words that change something; beside one of them a word that only
// looks is a name.
func changes(w string) bool {
	switch strings.ToLower(w) {
	case "delete", "apply", "create", "replace", "patch", "set", "scale", "edit", "exec", "run", "cp", "mv", "rm", "annotate", "label", "drain", "cordon", "rollout", "restart",
		"put", "post", "update", "insert", "drop", "truncate", "destroy", "write", "push", "import", "restore", "upgrade", "install", "uninstall", "rollback", "kill", "stop", "start", "tee", "dd", "sed", "sh", "bash":
		return true
	}
	return false
}

// flag reports an option that stands for itself, not as the value of another.
func flag(words []string, names ...string) bool {
	for i, w := range words {
		if slices.Contains(names, w) && (i == 0 || !takesText(words[i-1])) {
			return true
		}
	}
	return false
}

// behind reports a subcommand's subcommand.
func behind(words []string, word string, names ...string) bool {
	i := slices.Index(words, word)
	return i >= 0 && i+1 < len(words) && slices.Contains(names, words[i+1])
}
