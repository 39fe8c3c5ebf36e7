package project

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// mcpName is the file of MCP servers.
const mcpName = "mcp.toml"

// Server is an MCP server as its owner describes it (T-MCP-1).
type Server struct {
	// Slug is its name here.
	Slug    string
	Command string
	Args    []string
	// Env are variables for the program; EnvFrom names those of this process that it gets.
	Env     map[string]string
	EnvFrom []string
	Cwd     string
	URL     string
	// Headers may hold ${NAME} for variables of this process.
	Headers          map[string]string
	Enabled, Disable []string
	// Startup and Call are its time limits; 0 is the default.
	Startup, Call time.Duration

	// From is the file and line that it was read from.
	From string
	// Pins are the files of the project that it runs, as they were trusted (D-31).
	Pins []File
}

type mcpFile struct {
	Servers map[string]mcpServer `toml:"servers"`
}

type mcpServer struct {
	Command  string            `toml:"command"`
	Args     []string          `toml:"args"`
	Env      map[string]string `toml:"env"`
	EnvFrom  []string          `toml:"env_from"`
	Cwd      string            `toml:"cwd"`
	URL      string            `toml:"url"`
	Headers  map[string]string `toml:"headers"`
	Enabled  []string          `toml:"enabled_tools"`
	Disabled []string          `toml:"disabled_tools"`
	Startup  *duration         `toml:"startup_timeout"`
	Call     *duration         `toml:"call_timeout"`
}

var serverSlug = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// mcp reads the servers of one folder. A project's count once a person trusts the file
// and every file of the project that they run (T-MCP-2).
func (r *reader) mcp(d folder, project string, outer bool) {
	f := r.file(d, mcpName, project, outer)
	if f == nil {
		return
	}
	file := *f // pins move the files
	var v mcpFile
	lines, err := decode(file.Path, file.data, &v)
	if err != nil {
		r.fail(err)
		return
	}
	for _, slug := range slices.Sorted(maps.Keys(v.Servers)) {
		key, s := "servers."+slug, v.Servers[slug]
		if err := s.check(file.Path, key, slug, lines); err != nil {
			r.fail(err)
			continue
		}
		made := s.server(slug)
		made.From = fmt.Sprintf("%s:%d", file.Path, lines[key])
		trusted := file.Trusted
		if project != "" && !outer {
			for _, name := range made.files() {
				if pin := r.pin(project, name); pin != nil {
					made.Pins = append(made.Pins, *pin)
					trusted = trusted && pin.Trusted
				}
			}
		}
		if !trusted {
			why := whyTrust
			if outer {
				why = whyOuter
			}
			r.ignored = append(r.ignored, Ignored{File: file.Path, Line: lines[key], Key: fmt.Sprintf("MCP server %q", slug), Why: why, Waits: !outer})
			continue
		}
		if i := slices.IndexFunc(r.servers, func(o Server) bool { return o.Slug == slug }); i >= 0 {
			r.fail(&Error{File: file.Path, Line: lines[key], Key: key, Problem: fmt.Sprintf("is a server of %s already; give this one another name", r.servers[i].From)})
			continue
		}
		r.servers = append(r.servers, made)
	}
}

func (s mcpServer) check(file, key, slug string, lines map[string]int) error {
	bad := func(field, problem string) error {
		at := key
		if field != "" {
			at += "." + field
		}
		line := lines[at]
		if line == 0 {
			line = lines[key]
		}
		return &Error{File: file, Line: line, Key: at, Problem: problem}
	}
	var errs []error
	if !serverSlug.MatchString(slug) {
		errs = append(errs, bad("", "a server's name is a-z, 0-9 and -, 32 characters at most"))
	}
	switch {
	case s.Command == "" && s.URL == "":
		errs = append(errs, bad("", "a server needs command or url"))
	case s.Command != "" && s.URL != "":
		errs = append(errs, bad("url", "a server has either command or url"))
	}
	if s.Startup != nil && (*s.Startup <= 0 || time.Duration(*s.Startup) > time.Minute) {
		errs = append(errs, bad("startup_timeout", "is more than 0 and at most 60s"))
	}
	if s.Call != nil && *s.Call <= 0 {
		errs = append(errs, bad("call_timeout", "is more than 0"))
	}
	for _, name := range s.EnvFrom {
		if !envName.MatchString(name) {
			errs = append(errs, bad("env_from", fmt.Sprintf("%q is not the name of a variable; values are never in a file", name)))
		}
	}
	return errors.Join(errs...)
}

func (s mcpServer) server(slug string) Server {
	made := Server{Slug: slug, Command: s.Command, Args: s.Args, Env: s.Env, EnvFrom: s.EnvFrom, Cwd: s.Cwd, URL: s.URL, Headers: s.Headers, Enabled: s.Enabled, Disable: s.Disabled}
	if s.Startup != nil {
		made.Startup = time.Duration(*s.Startup)
	}
	if s.Call != nil {
		made.Call = time.Duration(*s.Call)
	}
	return made
}

// files are the words of a server that may name a file of the project.
func (s Server) files() []string {
	return Tool{Command: s.Command, Args: s.Args, Dir: filepath.FromSlash(s.Cwd)}.files()
}
