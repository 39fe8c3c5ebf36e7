package policy

import (
	"strings"

	"car/internal/engine/ir"
)

// program is one row of the program table: what a program or subcommand needs,
// and what its arguments mean.
type program struct {
	name  string
	class string
	// operands are roles of the operands in order; a role with * repeats.
	operands []role
	opts     map[string]option
	// single: options are words behind one dash (find, go, terraform).
	single bool
	// stops: the first operand ends the options.
	stops bool
	// check is the handler that knows more than the row says; may be empty.
	check string
}

// role says what a program does with an argument.
type role byte

// The roles, by their letter in the table.
const (
	roleText    role = 't' // text that is no path
	roleRead    role = 'r' // content is read
	roleLook    role = 'm' // name or metadata is looked at
	roleWrite   role = 'w' // created or replaced
	roleDelete  role = 'd' // removed
	roleMode    role = 'p' // mode, owner or time is changed
	roleChdir   role = 'c' // becomes the working directory
	roleOutDir  role = 'o' // a directory that is written into
	roleTemp    role = 'e' // a directory for temporary files
	roleTree    role = 'b' // a directory whose content is read and written
	roleHelper  role = 'x' // a program that is started
	roleShell   role = 's' // shell text that is run
	roleCode    role = 'z' // program text of another language
	roleHost    role = 'h' // a host or URL
	roleBody    role = 'y' // data that is sent to another machine
	roleLogin   role = 'l' // a header or login that may carry a secret
	roleSetting role = 'k' // a setting that may name a program
	roleUpload  role = 'u' // data that is sent, or @file
)

type option struct {
	takes    bool
	attached bool
	role     role
	// class replaces the row's class when the option is given.
	class string
}

// tierOf says what a class means (G-TIER-2).
type classInfo struct {
	tier    ir.Tier
	rev     ir.Reversibility
	network bool
	// why is the reason for asking; empty for what needs none.
	why string
	// always: no standing tier covers it.
	always bool
}

func classOf(name string) (classInfo, bool) {
	switch name {
	case "read", "echo", "fact":
		return classInfo{tier: ir.ReadOnly, rev: ir.Reversible}, true
	case "edit":
		return classInfo{tier: ir.SandboxEdit, rev: ir.Compensable}, true
	case "delete":
		return classInfo{tier: ir.SandboxEdit, rev: ir.Irreversible}, true
	case "build", "commit", "temporary":
		return classInfo{tier: ir.SandboxEdit, rev: ir.Reversible}, true
	case "network":
		return classInfo{tier: ir.FullAccess, rev: ir.Irreversible, network: true, why: "reaches the network"}, true
	case "fetch":
		return classInfo{tier: ir.FullAccess, rev: ir.Reversible, network: true, why: "reaches the network"}, true
	case "push":
		return classInfo{tier: ir.FullAccess, rev: ir.Compensable, network: true, why: "changes a remote"}, true
	case "publish":
		return classInfo{tier: ir.FullAccess, rev: ir.Irreversible, network: true, why: "publishes"}, true
	case "install":
		return classInfo{tier: ir.FullAccess, rev: ir.Compensable, network: true, why: "installs code from elsewhere"}, true
	case "daemon":
		return classInfo{tier: ir.FullAccess, rev: ir.Irreversible, network: true, why: "talks to a daemon, cluster or cloud"}, true
	case "database":
		return classInfo{tier: ir.FullAccess, rev: ir.Irreversible, network: true, why: "works on the data of a service"}, true
	case "service":
		return classInfo{tier: ir.FullAccess, rev: ir.Irreversible, why: "controls processes or services"}, true
	case "state":
		return classInfo{tier: ir.FullAccess, rev: ir.Compensable, why: "changes settings or state outside the root"}, true
	case "gitstate":
		return classInfo{tier: ir.FullAccess, rev: ir.Compensable, why: "writes the settings or hooks of the repository"}, true
	case "host":
		return classInfo{tier: ir.FullAccess, rev: ir.Reversible, why: "reads outside the root"}, true
	case "code":
		return classInfo{tier: ir.FullAccess, rev: ir.Irreversible, why: "runs code that policy cannot read"}, true
	case "script":
		return classInfo{tier: ir.FullAccess, rev: ir.Irreversible, why: "runs a file of the project"}, true
	case "program":
		return classInfo{tier: ir.FullAccess, rev: ir.Irreversible, why: "starts another program"}, true
	case "loss":
		return classInfo{tier: ir.FullAccess, rev: ir.Irreversible, why: "discards work or data that cannot be brought back", always: true}, true
	}
	return classInfo{}, false
}

// programs reads the table.
func programs() map[string]*program {
	all := make(map[string]*program, 1024)
	for _, text := range []string{tableFiles, tableText, tableSystem, tableBuild, tableGit, tableNetwork, tableNever} {
		for line := range strings.SplitSeq(text, "\n") {
			if line == "" || line[0] == '#' {
				continue
			}
			names, p := parseRow(line)
			for name := range strings.SplitSeq(names, ",") {
				one := *p
				one.name = name
				all[name] = &one
			}
		}
	}
	return all
}

// parseRow reads "names | class | operands | options | handler". A class that
// begins with deny: refuses with that rule.
func parseRow(line string) (names string, p *program) {
	col := strings.Split(line, "|")
	for i := range col {
		col[i] = strings.TrimSpace(col[i])
	}
	for len(col) < 5 {
		col = append(col, "")
	}
	p = &program{class: col[1], check: col[4], opts: map[string]option{}}
	for f := range strings.FieldsSeq(col[2]) {
		p.operands = append(p.operands, role(f[0]))
		if strings.HasSuffix(f, "*") {
			p.operands = append(p.operands, '*')
		}
	}
	for f := range strings.FieldsSeq(col[3]) {
		switch f {
		case "@single":
			p.single = true
		case "@stops":
			p.stops = true
		default:
			name, o := parseOption(f)
			p.opts[name] = o
		}
	}
	return col[0], p
}

// parseOption reads --name (takes text), --name:r (takes a path that is read),
// --name?r (the value can only be attached), --name! (a flag), --name=class (a
// flag that changes the class).
func parseOption(f string) (string, option) {
	if name, class, ok := strings.Cut(f, "="); ok {
		return name, option{class: class}
	}
	if name, ok := strings.CutSuffix(f, "!"); ok {
		return name, option{}
	}
	if name, r, ok := strings.Cut(f, "?"); ok {
		o := option{takes: true, attached: true, role: roleText}
		if r != "" {
			o.role = role(r[0])
		}
		return name, o
	}
	if name, r, ok := strings.Cut(f, ":"); ok {
		return name, option{takes: true, role: role(r[0])}
	}
	return f, option{takes: true, role: roleText}
}
