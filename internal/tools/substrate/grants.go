package substrate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"car/internal/tools/substrate/confine"
)

// systemRead is what programs of the system stand on; nothing in a home.
var systemRead = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu", "/snap",
	"/proc", "/sys", "/var/lib/dpkg", "/var/lib/apt", "/var/cache/fontconfig", "/dev/random", "/dev/urandom"}

// devices may be opened by every command. Terminals are here only where they are the session's own.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/tty"}

// toolHomes are folders below a home that hold programs and settings without secrets.
var toolHomes = []string{"go", ".go", "bin", ".gitconfig", ".config/git", ".gitignore", ".gitignore_global", ".pyenv", ".nvm", ".fnm", ".volta", ".bun/bin", ".deno/bin",
	".rustup", ".cargo/bin", ".cargo/env", ".cargo/config.toml", ".local/bin", ".local/lib", ".local/share/pnpm", ".local/share/mise", ".local/share/uv", ".local/share/fnm",
	".local/share/virtualenvs", ".asdf", ".sdkman", ".rbenv", ".rvm", ".dotnet", ".nodenv", ".jenv", ".goenv", ".gvm", "miniconda3", "anaconda3", "sdk", ".config/go",
	".ssh/known_hosts", ".ssh/config"}

// cacheHomes are the shared build caches (D-35).
var cacheHomes = []string{".cache/go-build", "go/pkg", ".cache/golangci-lint", ".cache/staticcheck", ".cache/gopls", ".npm", ".cache/node", ".cache/node-gyp", ".cache/yarn", ".cache/pnpm",
	".local/share/pnpm/store", ".bun/install/cache", ".cache/deno", ".cache/pip", ".cache/uv", ".cache/pypoetry", ".cache/pre-commit", ".cache/mypy", ".cargo/registry", ".cargo/git",
	".cargo/.package-cache", ".m2/repository", ".gradle/caches", ".gradle/wrapper", ".gradle/daemon", ".gradle/native", ".nuget/packages", ".ivy2/cache", ".cache/bazel", ".cache/ccache",
	".ccache", ".cache/sccache", ".composer/cache", ".cache/composer", ".bundle/cache", ".cache/coursier", ".cache/zig", ".cache/ms-playwright"}

// secretHomes are never reachable, wherever the workspace lies.
var secretHomes = []string{".ssh", ".gnupg", ".aws", ".kube", ".docker", ".azure", ".oci", ".netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials", ".vault-token",
	".config/gh", ".config/gcloud", ".config/doctl", ".config/git/credentials", ".local/share/keyrings", ".password-store", ".mozilla", ".config/google-chrome", ".config/chromium",
	".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".bash_history", ".zsh_history"}

// secretSystem are what only root could read, and the doors of services through
// which a command would act outside of its confinement.
var secretSystem = []string{"/etc/shadow", "/etc/gshadow", "/etc/shadow-", "/etc/gshadow-", "/etc/sudoers", "/etc/ssl/private", "/run/docker.sock", "/run/podman",
	"/run/containerd", "/run/crio", "/run/dbus", "/run/user", "/run/systemd/private", "/run/snapd.socket", "/run/libvirt", "/tmp/.X11-unix", "/tmp/.ICE-unix"}

// kind is what a command is allowed beyond the others.
type kind struct {
	// network is that of the machine; git leaves the repository's hooks and settings open.
	network, git bool
}

// plan says what commands of a kind may reach.
func (c *Confinement) plan(l *local, k kind) confine.Plan {
	p := confine.Plan{Network: k.network, Namespaces: l.jail.namespaces, Devices: slices.Clone(devices)}
	root, home := l.desc.Root, l.cfg.Home
	p.Read = append(slices.Clone(systemRead), resolver()...)
	p.Read = append(p.Read, below(home, toolHomes)...)
	p.Read = append(p.Read, l.toolchains()...)
	p.Read = append(p.Read, c.ReadRoots...)
	p.Write = append(p.Write, root, l.scratch.dir, "/dev/shm")
	p.Write = append(p.Write, worktree(root)...)
	if c.Caches == "" {
		p.Write = append(p.Write, below(home, cacheHomes)...)
		for _, name := range []string{"GOCACHE", "GOMODCACHE", "npm_config_cache", "PIP_CACHE_DIR", "CCACHE_DIR"} {
			if dir := envValue(l.env, name); filepath.IsAbs(dir) && !isBelow(home, dir) {
				p.Write = append(p.Write, dir)
			}
		}
	} else {
		p.Write = append(p.Write, c.Caches)
	}
	if !l.jail.namespaces {
		return p
	}
	p.Devices = append(p.Devices, "/dev/ptmx", "/dev/pts")
	p.Pinned = existing(filepath.Join(root, ".git"))
	p.Frozen = existing(filepath.Join(root, ".car"))
	if !k.git {
		p.Frozen = append(p.Frozen, existing(filepath.Join(root, ".git", "config"), filepath.Join(root, ".git", "hooks"), filepath.Join(root, ".git", "config.worktree"))...)
	}
	p.Hidden = slices.DeleteFunc(append(below(home, secretHomes), secretSystem...), func(path string) bool {
		// The names of servers, and which of the person's keys to use, are no secrets; the keys stay out of reach
		// because nothing of the home is granted unless the workspace holds it.
		return path == filepath.Join(home, ".ssh") && !isBelow(path, root)
	})
	if isBelow(c.CarHome, root) || isBelow(c.CarHome, "/etc") || isBelow(c.CarHome, "/opt") {
		p.Hidden = append(p.Hidden, c.CarHome)
	}
	if socket := envValue(l.cfg.Env, "SSH_AUTH_SOCK"); filepath.IsAbs(socket) && !k.network {
		p.Hidden = append(p.Hidden, socket)
	}
	p.Hidden = existing(p.Hidden...)
	return p
}

// toolchains are the folders that hold what PATH names, outside the home.
func (l *local) toolchains() []string {
	var list []string
	for _, dir := range filepath.SplitList(envValue(l.env, "PATH")) {
		if !filepath.IsAbs(dir) || dir == "/" {
			continue
		}
		if parent := filepath.Dir(dir); filepath.Base(dir) == "bin" && parent != "/" && !isBelow(l.cfg.Home, parent) && !isBelow(l.jail.cfg.CarHome, parent) {
			dir = parent
		}
		if !isBelow(l.cfg.Home, dir) && !isBelow(l.jail.cfg.CarHome, dir) {
			list = append(list, dir)
		}
	}
	return list
}

// resolver is where the names of hosts are looked up, which is often outside /etc.
func resolver() []string {
	if path, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil {
		return []string{path}
	}
	return nil
}

func below(home string, names []string) []string {
	if !filepath.IsAbs(home) || home == "/" {
		return nil
	}
	var list []string
	for _, name := range names {
		list = append(list, filepath.Join(home, filepath.FromSlash(name)))
	}
	return existing(list...)
}

func existing(paths ...string) []string {
	var list []string
	for _, path := range paths {
		if real, err := filepath.EvalSymlinks(path); err == nil && !slices.Contains(list, real) {
			list = append(list, real)
		}
	}
	return list
}

// worktree finds the repository of a linked worktree. A `.git` file is content of
// the project, so it counts only where the repository names this folder too.
func worktree(root string) []string {
	text, err := os.ReadFile(filepath.Join(root, ".git"))
	dir, found := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if err != nil || !found || !filepath.IsAbs(dir) {
		return nil
	}
	back, err := os.ReadFile(filepath.Join(dir, "gitdir"))
	if err != nil || strings.TrimSpace(string(back)) != filepath.Join(root, ".git") || filepath.Base(filepath.Dir(dir)) != "worktrees" {
		return nil
	}
	return []string{filepath.Dir(filepath.Dir(dir))}
}
