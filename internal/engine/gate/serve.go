package gate

import (
	"path"
	"slices"
	"strings"

	"car/internal/engine/policy"
)

// served lists the folders that an action would serve to a network (B023): serving
// is reading all of a folder out to whoever asks.
func served(j policy.Judgement) []string {
	var dirs []string
	for _, p := range j.Programs {
		if dir, ok := servedBy(p); ok {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// servedBy knows the programs that serve the folder they run in, or one that they
// are given.
func servedBy(p policy.Program) (dir string, ok bool) {
	if p.Wraps || len(p.Words) == 0 {
		return "", false
	}
	words := p.Words[1:]
	switch path.Base(p.Words[0]) {
	case "python", "python2", "python3", "pypy", "pypy3":
		module := optionValue(words, "-m")
		ok = module == "http.server" || module == "SimpleHTTPServer" || module == "CGIHTTPServer" || module == "twisted" || module == "pyftpdlib"
		dir = optionValue(words, "-d", "--directory")
	case "php":
		ok = slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-S") })
		dir = optionValue(words, "-t")
	case "ruby":
		ok = slices.Contains(words, "-run") && slices.Contains(words, "httpd")
		dir = after(words, "httpd")
	case "busybox", "httpd", "mini_httpd", "thttpd", "darkhttpd", "webfsd":
		ok = path.Base(p.Words[0]) != "busybox" || slices.Contains(words, "httpd")
		dir = optionValue(words, "-h", "-d")
	case "npx", "bunx", "pnpx", "yarn", "pnpm", "npm":
		i := slices.IndexFunc(words, servesFiles)
		if i < 0 {
			return "", false
		}
		ok, dir = true, firstOperand(words[i+1:])
	case "caddy":
		ok = slices.Contains(words, "file-server")
		dir = optionValue(words, "--root", "-root", "-r")
	case "twistd", "twist":
		ok = slices.Contains(words, "web") || slices.Contains(words, "ftp")
		dir = optionValue(words, "--path")
	case "rclone":
		if ok = slices.Contains(words, "serve"); ok {
			dir = lastOperand(words)
		}
	case "git":
		if ok = slices.Contains(words, "daemon") || slices.Contains(words, "instaweb"); ok {
			dir = optionValue(words, "--base-path")
		}
	default:
		if ok = servesFiles(p.Words[0]); ok {
			dir = firstOperand(words)
		}
	}
	if !ok {
		return "", false
	}
	return below(p.Dir, dir), true
}

// servesFiles reports programs of package managers that do nothing but serve a folder.
func servesFiles(word string) bool {
	name, _, _ := strings.Cut(path.Base(word), "@")
	return slices.Contains([]string{"http-server", "serve", "live-server", "local-web-server", "ws", "browser-sync", "servor", "sirv", "miniserve", "simple-http-server", "static-web-server", "webfs", "gohttpserver", "dufs"}, name)
}

// below is a folder as it is given, from where the command runs.
func below(dir, given string) string {
	if path.IsAbs(given) {
		return given
	}
	if dir == "" {
		dir = "."
	}
	return path.Join(dir, given)
}

// optionValue is what stands behind an option, apart, with = or attached.
func optionValue(words []string, names ...string) string {
	for i, w := range words {
		for _, name := range names {
			switch rest, ok := strings.CutPrefix(w, name); {
			case !ok:
			case rest == "" && i+1 < len(words):
				return words[i+1]
			case strings.HasPrefix(rest, "="):
				return rest[1:]
			case rest != "" && len(name) == 2:
				return rest
			}
		}
	}
	return ""
}

func after(words []string, name string) string {
	if i := slices.Index(words, name); i >= 0 {
		return firstOperand(words[i+1:])
	}
	return ""
}

func firstOperand(words []string) string {
	for i, w := range words {
		if !strings.HasPrefix(w, "-") && (i == 0 || !strings.HasPrefix(words[i-1], "-")) {
			return w
		}
	}
	return ""
}

func lastOperand(words []string) string {
	if len(words) > 0 && !strings.HasPrefix(words[len(words)-1], "-") {
		return words[len(words)-1]
	}
	return ""
}
