package policy

import (
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/shell"
)

// Variables that change which code a program runs (D15). loaders take files or
// folders of code, commands take a program or shell text, settings take files
// of settings.
const (
	loaderVariables = ` BASH_ENV ENV SHELLOPTS BASHOPTS PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONINSPECT PYTHONBREAKPOINT PYTHONUSERBASE PYTHONPLATLIBDIR
PYTHONEXECUTABLE PERL5OPT PERL5LIB PERLLIB PERL5DB RUBYOPT RUBYLIB GEM_PATH GEM_HOME NODE_PATH NODE_REPL_EXTERNAL_MODULE JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS
JAVA_OPTS CLASSPATH MAVEN_OPTS GRADLE_OPTS SBT_OPTS GROOVY_CONF LUA_PATH LUA_CPATH LUA_INIT PHPRC PHP_INI_SCAN_DIR R_PROFILE R_PROFILE_USER R_LIBS JULIA_LOAD_PATH ERL_LIBS ERL_FLAGS ELIXIR_ERL_OPTIONS
GCONV_PATH LOCPATH NLSPATH TERMINFO TERMINFO_DIRS OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES GIO_EXTRA_MODULES GTK_PATH QT_PLUGIN_PATH AWKPATH AWKLIBPATH
MAKEFILES CMAKE_TOOLCHAIN_FILE GOROOT CDPATH GLOBIGNORE FPATH ZDOTDIR INPUTRC VIMINIT EXINIT VIMRUNTIME EMACSLOADPATH TCLLIBPATH NIX_PATH COMPILER_PATH GCC_EXEC_PREFIX DYLD_INSERT_LIBRARIES `
	commandVariables = ` PAGER MANPAGER GIT_PAGER BAT_PAGER SYSTEMD_PAGER PSQL_PAGER AWS_PAGER GH_PAGER DELTA_PAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR FCEDIT HGEDITOR SVN_EDITOR KUBE_EDITOR
GIT_SSH GIT_SSH_COMMAND GIT_PROXY_COMMAND GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS BROWSER LESSOPEN LESSCLOSE PROMPT_COMMAND RSYNC_RSH CVS_RSH SVN_SSH
RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTDOC CARGO_BUILD_RUSTC_WRAPPER FZF_DEFAULT_COMMAND FZF_CTRL_T_COMMAND GREP_COMMAND MANROFFOPT MANOPT TEXEDIT MAILCAPS
GIT_DIFF_OPTS_CMD BUNDLE_EDITOR GEM_EDITOR NPM_CONFIG_SCRIPT_SHELL npm_config_script_shell npm_config_editor npm_config_git npm_config_shell DOCKER_BUILDKIT_HELPER CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER COMSPEC SHELL LD AR AS NM RANLIB STRIP OBJCOPY `
	settingVariables = ` HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME TMPDIR GIT_CONFIG GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_PARAMETERS GIT_CONFIG_NOSYSTEM_ GIT_EXEC_PATH GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR
GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_TEMPLATE_DIR GIT_ATTR_SOURCE GIT_NAMESPACE GIT_REPLACE_REF_BASE GIT_SHALLOW_FILE RIPGREP_CONFIG_PATH GREP_OPTIONS TAR_OPTIONS CURL_HOME WGETRC SYSTEM_WGETRC NETRC
KUBECONFIG DOCKER_CONFIG DOCKER_HOST CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN NPM_CONFIG_USERCONFIG npm_config_userconfig NPM_CONFIG_PREFIX npm_config_prefix PIP_CONFIG_FILE PIP_TARGET PIP_PREFIX UV_CONFIG_FILE
GOENV GOPATH GOBIN GOMODCACHE GNUPGHOME AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE MAKEFLAGS GNUMAKEFLAGS MFLAGS PGSERVICEFILE PGPASSFILE MYSQL_HOME HISTFILE BASH_COMPAT POSIXLY_CORRECT_ LESSKEY LESSKEYIN TIGRC_USER HGRCPATH SSH_AUTH_SOCK_ `
	compilerVariables = ` CC CXX CPP FC F77 GCC CLANG HOSTCC CGO_CC JAVA_HOME JAVACMD PYTHON NODE RUBY PERL GO CARGO NPM_BIN YARN MAKE LINKER `
)

// inList looks a word up in a list that is split by spaces and line ends, and
// begins and ends with one.
func inList(list, name string) bool {
	for at := 0; name != ""; {
		i := strings.Index(list[at:], name)
		if i < 0 {
			break
		}
		from, to := at+i, at+i+len(name)
		if from > 0 && to < len(list) && list[from-1] <= ' ' && list[to] <= ' ' {
			return true
		}
		at = to
	}
	return false
}

// assignments judges variables that a command sets for others or for itself.
func (j *judge) assignments(c *call) {
	pairs := map[string][2]shell.Word{}
	for _, a := range c.cmd.Assigns {
		exported := a.Exported || len(c.cmd.Words) > 0
		if n, ok := strings.CutPrefix(a.Name, "GIT_CONFIG_KEY_"); ok {
			p := pairs[n]
			p[0] = a.Value
			pairs[n] = p
			continue
		}
		if n, ok := strings.CutPrefix(a.Name, "GIT_CONFIG_VALUE_"); ok {
			p := pairs[n]
			p[1] = a.Value
			pairs[n] = p
			continue
		}
		if exported || inList(" PATH PS4 PROMPT_COMMAND CDPATH GLOBIGNORE ", a.Name) {
			j.environValue(c, a.Name, a.Value)
		}
	}
	for _, n := range sortedKeys(pairs) {
		key, _ := pairs[n][0].Static()
		value, known := pairs[n][1].Static()
		if c.name == "" {
			c.name = "the assignment"
		}
		j.gitKey(c, key, value, known)
	}
}

// environValue judges one variable that a program would see.
func (j *judge) environValue(c *call, name string, w shell.Word) {
	text, static := w.Static()
	subject := *c
	if subject.name == "" {
		subject.name = "the assignment"
	}
	ask := func(rule, why string) {
		j.ask(&subject, rule, why+" ("+shorten(name)+")", "leave the variable alone")
	}
	switch {
	case static && text == "" && !inList(settingVariables, name):
	case name == "PATH":
		if !trustedPath(text, static) {
			ask(ruleHelper, "changes which programs run")
		}
	case strings.HasPrefix(name, "LD_"), strings.HasPrefix(name, "DYLD_"), strings.HasPrefix(name, "BASH_FUNC_"), inList(loaderVariables, name):
		ask(ruleHelper, "changes what code is loaded")
	case name == "PS4" || name == "PS0" || name == "PS1" || name == "PS2":
		if strings.ContainsAny(text, "$`") || !static {
			ask(ruleHelper, "sets a prompt that runs commands")
			if static {
				j.readText(`: "`+strings.ReplaceAll(text, `"`, `\"`)+`"`, j.dir(c), false, &subject)
			}
		}
	case inList(commandVariables, name), strings.HasPrefix(name, "CARGO_TARGET_") && (strings.HasSuffix(name, "_RUNNER") || strings.HasSuffix(name, "_LINKER")):
		j.helper(&subject, w)
	case inList(compilerVariables, name):
		if row, _, _, _ := j.p.find(firstWord(text), nil); !static || row == nil || strings.Contains(text, "/") {
			j.helper(&subject, w)
		}
	case name == "TAR_OPTIONS":
		ask(ruleHelper, "gives tar options from the environment")
		if static {
			j.readText("tar "+text+" -c -f - .", j.dir(c), false, &subject)
		}
	case name == "MAKEFLAGS" && static && strings.Trim(text, "-j0123456789 ks") == "":
	case inList(settingVariables, name):
		ask(ruleHelper, "changes where settings come from")
	case strings.HasPrefix(name, "GIT_"):
		j.gitVariable(name, text, static, ask)
	default:
		flagVariable(name, text, static, ask)
	}
	c.raise(subject.tier, subject.rev, subject.reason)
	c.verdict = c.verdict.Stricter(subject.verdict)
}

func firstWord(s string) string {
	f := strings.Fields(s)
	if len(f) == 0 {
		return ""
	}
	return f[0]
}

// trustedPath reports a search path of system folders only.
func trustedPath(text string, static bool) bool {
	if !static {
		return false
	}
	for dir := range strings.SplitSeq(text, ":") {
		switch strings.TrimRight(dir, "/") {
		case "/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin":
		default:
			return false
		}
	}
	return true
}

// gitVariable judges the many variables of git: a list of harmless ones, and a
// question for the rest.
func (j *judge) gitVariable(name, text string, static bool, ask func(rule, why string)) {
	switch {
	case strings.HasPrefix(name, "GIT_AUTHOR_"), strings.HasPrefix(name, "GIT_COMMITTER_"):
		return
	case strings.HasPrefix(name, "GIT_TRACE"), name == "GIT_CURL_VERBOSE", name == "GIT_REDIRECT_STDOUT", name == "GIT_REDIRECT_STDERR":
		if static && (falseValue(text) || text == "1" || text == "2" || text == "true") {
			return
		}
		ask(ruleOutWrite, "writes a trace to a file")
		return
	}
	switch name {
	case "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "GIT_LFS_SKIP_SMUDGE", "GIT_CEILING_DIRECTORIES", "GIT_MERGE_AUTOEDIT", "GIT_ADVICE", "GIT_REFLOG_ACTION", "GIT_LITERAL_PATHSPECS",
		"GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_FLUSH", "GIT_PROGRESS_DELAY", "GIT_DEFAULT_HASH", "GIT_NO_REPLACE_OBJECTS",
		"GIT_CONFIG_COUNT", "GIT_CONFIG_NOSYSTEM", "GIT_DIFF_OPTS", "GIT_PREFIX", "GIT_COLUMNS", "GIT_PRINT_SHA1_ELLIPSIS", "GIT_COMMIT", "GIT_SHA", "GIT_BRANCH", "GIT_TAG", "GIT_VERSION":
		return
	}
	ask(ruleHelper, "changes how git works")
}

// flagVariable judges variables that hold options of a tool chain.
func flagVariable(name, text string, static bool, ask func(rule, why string)) {
	switch name {
	case "GOFLAGS":
		for f := range strings.FieldsSeq(text) {
			f = strings.TrimLeft(f, "-")
			for _, bad := range []string{"toolexec", "exec", "vettool", "overlay", "modfile", "pkgdir"} {
				if f == bad || strings.HasPrefix(f, bad+"=") {
					ask(ruleHelper, "is told to start or load another program")
				}
			}
		}
	case "NODE_OPTIONS":
		for f := range strings.FieldsSeq(text) {
			key, _, _ := strings.Cut(f, "=")
			switch {
			case key == "--max-old-space-size", key == "--max_old_space_size", key == "--no-warnings", key == "--enable-source-maps", key == "--no-deprecation",
				strings.HasPrefix(key, "--trace-"), key == "--unhandled-rejections", key == "--experimental-vm-modules", key == "--openssl-legacy-provider", key == "--max-semi-space-size", key == "--throw-deprecation":
			default:
				ask(ruleHelper, "changes what code is loaded")
			}
		}
	case "RUSTFLAGS", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "CGO_CFLAGS", "CGO_LDFLAGS", "RUSTDOCFLAGS", "CARGO_ENCODED_RUSTFLAGS":
		for _, bad := range []string{"linker=", "-fplugin", "-wrapper", "-specs", "-B", "--ld-path", "-fuse-ld=/", "-fuse-ld=.", "@"} {
			if strings.Contains(text, bad) {
				ask(ruleHelper, "is told to start or load another program")
				return
			}
		}
	case "GOTOOLCHAIN":
		if text != "local" && text != "auto" && !strings.HasPrefix(text, "go1") {
			ask(ruleHelper, "changes which tool chain runs")
		}
	default:
		if strings.HasPrefix(strings.ToLower(name), "npm_config_") && (strings.Contains(strings.ToLower(name), "shell") || strings.Contains(strings.ToLower(name), "node_options")) {
			ask(ruleHelper, "is told to start another program")
			return
		}
	}
	if !static && (name == "GOFLAGS" || name == "NODE_OPTIONS" || name == "RUSTFLAGS") {
		ask(ruleUnknown, "sets options that are not known")
	}
}

// redirections judges what a command's descriptors are opened on.
func (j *judge) redirections(c *call) {
	if name, ok := c.cmd.Name(); ok {
		c.name = name
	} else if len(c.cmd.Words) == 0 {
		c.name = "the redirection"
		if len(c.cmd.Redirs) == 0 {
			c.name = "the assignment"
		}
	}
	for _, r := range c.cmd.Redirs {
		switch r.Op {
		case shell.RedirRead:
			j.read(c, r.Target, false)
		case shell.RedirWrite, shell.RedirAppend:
			j.write(c, r.Target, creates)
		case shell.RedirReadWrite:
			j.read(c, r.Target, false)
			j.write(c, r.Target, creates)
		case shell.RedirDup:
			if r.Target.HasUnknown() {
				c.raise(ir.ReadOnly, ir.Reversible, "")
			}
		}
	}
}
