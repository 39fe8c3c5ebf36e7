package claim

import (
	"path"
	"slices"
	"strings"
)

// program says what kinds of work a command does, by its first words. A word of
// the row may list alternatives with "|" and end in "*" for a prefix.
type program struct {
	words string
	class class
}

// programs is looked through in order; the first row that fits decides. Flags
// between the words do not hide a subcommand.
var programs = []program{
	{"go test", classTest | classBuild}, {"go build|vet|install", classBuild}, {"gotestsum", classTest | classBuild},
	{"cargo test|nextest", classTest | classBuild}, {"cargo build|check|clippy|b|c", classBuild},
	{"pytest|py.test|tox|nox|unittest", classTest}, {"jest|vitest|mocha|ava|playwright|cypress|karma", classTest},
	{"npm|pnpm|yarn|bun t|test|test:*", classTest}, {"npm|pnpm|yarn|bun run test*", classTest},
	{"npm|pnpm|yarn|bun run build*|lint*|typecheck*|type-check*|tsc|check*|compile*", classBuild},
	{"npm|pnpm|yarn build|lint|typecheck", classBuild}, {"npm|pnpm|yarn publish", classSend},
	{"deno test", classTest}, {"deno check|lint", classBuild},
	{"ctest", classTest}, {"mvn|mvnw test|verify|integration-test", classTest | classBuild}, {"mvn|mvnw compile|package|install", classBuild},
	{"gradle|gradlew test|check", classTest | classBuild}, {"gradle|gradlew build|assemble|compile*", classBuild},
	{"dotnet test", classTest | classBuild}, {"dotnet build|publish", classBuild},
	{"rspec|phpunit|pest|busted|bats|prove", classTest}, {"rake|rails test|spec", classTest},
	{"mix test", classTest | classBuild}, {"mix compile", classBuild}, {"swift test", classTest | classBuild}, {"swift build", classBuild},
	{"zig test", classTest}, {"zig build", classBuild}, {"sbt|lein|bazel|stack|cabal test", classTest | classBuild},
	{"bazel|stack|cabal build", classBuild}, {"sbt compile", classBuild},
	{"make|gmake|just|task test*|check*", classTest | classBuild}, {"make|gmake|ninja|meson|cmake", classBuild},
	{"tsc|eslint|biome|prettier|ruff|mypy|pyright|flake8|pylint|staticcheck|golangci-lint|gofmt|rubocop|shellcheck|javac|gcc|g++|clang|clang++|cc|rustc", classBuild},
	{"git commit", classCommit}, {"git push", classPush}, {"git status|diff|log|show", classStatus},
	{"git apply|checkout|restore|reset|merge|rebase|pull|stash|revert|cherry-pick|clean|rm|mv|switch", classEdit},
	{"sed|perl -i*|--in-place*", classEdit}, {"tee|mv|cp|rm|touch|patch|truncate|install|ln|mkdir|dd|rsync|unzip|tar", classEdit},
	{"kubectl apply|rollout|set|replace", classDeploy}, {"terraform|tofu|pulumi apply|up", classDeploy}, {"helm upgrade|install", classDeploy},
	{"fly|flyctl|vercel|netlify|wrangler|gcloud|serverless|sls|cdk|railway deploy", classDeploy}, {"vercel|wrangler|netlify", classDeploy},
	{"docker push", classDeploy}, {"aws deploy|ecs|lambda|s3", classDeploy}, {"az webapp|functionapp|containerapp", classDeploy},
	{"cargo|twine|gem publish|upload|push", classSend}, {"gh pr|issue|release create|comment|merge|edit", classSend},
	{"gh run|workflow watch|view|list", classCI}, {"gh pr checks|view", classCI}, {"glab ci", classCI},
	{"curl|wget|http", classHealth},
}

// carriers run the program that their next words name.
var carriers = []string{"npx", "pnpx", "bunx", "uvx", "xvfb-run", "time", "command", "env", "nice", "nohup", "sudo"}

// carrierPairs do so after a word of their own.
var carrierPairs = []string{"uv run", "poetry run", "pipenv run", "pdm run", "hatch run", "rye run", "bundle exec", "python -m", "python3 -m",
	"pnpm exec", "npm exec", "yarn exec", "pnpm dlx"}

// valueFlags take the next word, so that it is not read as a subcommand.
var valueFlags = []string{"-C", "-c", "-f", "--prefix", "--cwd", "--filter", "--manifest-path", "--project"}

// classOf reads what kinds of work a command does from its words.
func classOf(words []string) class {
	words = unwrap(words)
	if len(words) == 0 {
		return 0
	}
	for _, p := range programs {
		if fits(strings.Fields(p.words), words) {
			return p.class
		}
	}
	return 0
}

// unwrap drops what only carries another program.
func unwrap(words []string) []string {
	for len(words) > 1 {
		name := path.Base(words[0])
		switch {
		case slices.Contains(carrierPairs, name+" "+words[1]):
			words = words[2:]
		case slices.Contains(carriers, name), strings.Contains(name, "=") && !strings.HasPrefix(name, "="):
			words = words[1:]
		default:
			return words
		}
	}
	return words
}

// fits compares a row with a command: the program by its base name, then each
// further word with the next that is no flag, unless the row asks for a flag.
func fits(row, words []string) bool {
	if !fitsWord(row[0], path.Base(words[0])) {
		return false
	}
	rest := words[1:]
	for _, want := range row[1:] {
		if strings.HasPrefix(want, "-") {
			return slices.ContainsFunc(rest, func(w string) bool { return fitsWord(want, w) })
		}
		for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
			rest = rest[min(len(rest), 1+takes(rest[0])):]
		}
		if len(rest) == 0 || !fitsWord(want, rest[0]) {
			return false
		}
		rest = rest[1:]
	}
	return true
}

// takes is how many words a flag has as its value.
func takes(flag string) int {
	if slices.Contains(valueFlags, flag) {
		return 1
	}
	return 0
}

func fitsWord(want, word string) bool {
	for alternative := range strings.SplitSeq(want, "|") {
		prefix, open := strings.CutSuffix(alternative, "*")
		if word == alternative || open && strings.HasPrefix(word, prefix) {
			return true
		}
	}
	return false
}
