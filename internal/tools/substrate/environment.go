package substrate

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// childMark is set in every child, so that a `car` started by one refuses (law 8).
const childMark = "CAR_CHILD"

// WithheldName is the default of Config.Withheld: names that look like they hold
// a secret (T-RED-1).
func WithheldName(name string) bool {
	name = strings.ToUpper(name)
	for _, part := range []string{
		"_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_PASSWD", "OPENAI_", "ANTHROPIC_",
		"AZURE_CLIENT_", "GITHUB_TOKEN", "CONNECTION_STRING", "APIKEY",
	} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return slices.Contains([]string{"TOKEN", "SECRET", "PASSWORD", "PGPASSWORD", "MYSQL_PWD"}, name)
}

// alwaysWithheld names what no setting passes on: the keys of model providers
// and everything of our own (T-SHELL-6, P-GUARD-8).
func alwaysWithheld(name string) bool {
	name = strings.ToUpper(name)
	for _, prefix := range []string{"CAR_", "OPENAI_", "ANTHROPIC_", "AZURE_OPENAI_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return slices.Contains([]string{
		"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY", "DEEPSEEK_API_KEY",
		"OPENROUTER_API_KEY", "XAI_API_KEY", "TOGETHER_API_KEY", "COHERE_API_KEY", "CO_API_KEY", "PERPLEXITY_API_KEY",
		"FIREWORKS_API_KEY", "CEREBRAS_API_KEY", "REPLICATE_API_TOKEN", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN",
		"HUGGINGFACEHUB_API_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "MOONSHOT_API_KEY", "DASHSCOPE_API_KEY", "ZHIPUAI_API_KEY",
	}, name)
}

// dropped lists variables that would run a file before the command, open an
// editor, a pager or a dialogue, or say something stale about where it runs.
// GIT_ASKPASS goes so that SSH_ASKPASS, which always says no, is what git asks.
func dropped(name string) bool {
	return slices.Contains([]string{
		"ENV", "BASH_ENV", "OLDPWD", "PWD", "GIT_ASKPASS", "GIT_SEQUENCE_EDITOR", "MANPAGER", "SYSTEMD_PAGER", "PROMPT_COMMAND",
	}, name)
}

// childEnv builds the environment of children: what is inherited and lawful,
// then what keeps a command from waiting for a person (T-SHELL-6).
func childEnv(c Config, root, scratch string) []string {
	withheld := c.Withheld
	if withheld == nil {
		withheld = WithheldName
	}
	set := map[string]string{
		"TERM": "dumb", "NO_COLOR": "1", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_EDITOR": "true", "EDITOR": "true", "VISUAL": "true",
		"GIT_TERMINAL_PROMPT": "0", "SSH_ASKPASS_REQUIRE": "force", "SSH_ASKPASS": "false", "DEBIAN_FRONTEND": "noninteractive",
		"TMPDIR": scratch, "PWD": root, childMark: "1",
	}
	if runtime.GOOS == "windows" {
		set["TMP"], set["TEMP"] = scratch, scratch
	}
	var env []string
	for _, kv := range c.Env {
		name, value, found := strings.Cut(kv, "=")
		if !found || name == "" || dropped(name) || alwaysWithheld(name) {
			continue
		}
		if _, ours := set[name]; ours || withheld(name) && !slices.Contains(c.EnvPass, name) {
			continue
		}
		if runtime.GOOS == "windows" && strings.EqualFold(name, "PATH") {
			value = compactPath(value, ";", 8191)
		}
		env = append(env, name+"="+value)
	}
	for name, value := range set {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return slices.Compact(env)
}

// cacheEnv sends build caches to the project's own folder where that is asked for (D-35).
func cacheEnv(env []string, c *Confinement) []string {
	if c == nil || c.Caches == "" {
		return env
	}
	set := map[string]string{"XDG_CACHE_HOME": "", "GOCACHE": "go-build", "GOMODCACHE": "go-mod", "npm_config_cache": "npm", "PIP_CACHE_DIR": "pip",
		"UV_CACHE_DIR": "uv", "YARN_CACHE_FOLDER": "yarn", "CCACHE_DIR": "ccache", "GRADLE_USER_HOME": "gradle", "NUGET_PACKAGES": "nuget"}
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		_, ours := set[name]
		return ours
	})
	for name, dir := range set {
		env = append(env, name+"="+filepath.Join(c.Caches, dir))
	}
	slices.Sort(env)
	return env
}

// compactPath brings a search path under limit characters: duplicates go first,
// then folders from the end (T-SHELL-12). cmd.exe ignores a longer one whole.
func compactPath(path, separator string, limit int) string {
	if len(path) <= limit {
		return path
	}
	seen := map[string]bool{}
	kept, length := []string{}, 0
	for _, dir := range strings.Split(path, separator) {
		key := strings.ToLower(strings.TrimRight(dir, `\/`))
		if dir == "" || seen[key] {
			continue
		}
		seen[key] = true
		if length+len(dir)+len(separator) > limit {
			continue
		}
		kept, length = append(kept, dir), length+len(dir)+len(separator)
	}
	return strings.Join(kept, separator)
}
