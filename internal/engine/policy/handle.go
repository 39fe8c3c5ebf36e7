package policy

// handler knows more of a program than its row says. It reports whether it
// judged the operands itself; if not, the row's roles apply.
type handler func(j *judge, c *call) bool

// handlers names the handlers of the program table.
func handlers() map[string]handler {
	return map[string]handler{
		// files
		"xxd": (*judge).xxd, "uniq": (*judge).uniq, "shuf": (*judge).shuf, "grep": (*judge).grep, "rg": (*judge).grep,
		"find": (*judge).find, "fd": (*judge).fd, "stat": (*judge).stat, "test": (*judge).test, "mknod": (*judge).mknod,
		"copy": (*judge).copy, "move": (*judge).move, "install": (*judge).install, "link": (*judge).link, "remove": (*judge).remove,
		"split": (*judge).split, "dd": (*judge).dd, "chmod": (*judge).chmod, "patch": (*judge).patch, "sed": (*judge).sed, "awk": (*judge).awk,
		"jq": (*judge).jq, "yq": (*judge).yq, "tar": (*judge).tar, "zip": (*judge).zip, "unzip": (*judge).unzip, "sevenzip": (*judge).sevenzip,
		"compress": (*judge).compress, "ar": (*judge).archiver, "cpio": (*judge).cpio, "rsync": (*judge).rsync, "openssl": (*judge).openssl,
		"gpg": (*judge).gpg, "sshkeygen": (*judge).sshKeygen, "mktemp": (*judge).mktemp, "media": (*judge).media,
		// shell
		"printf": (*judge).prints, "facts": (*judge).facts, "env": (*judge).envDump, "printenv": (*judge).printenv, "setbuiltin": (*judge).setBuiltin,
		"declaration": (*judge).declaration, "builtins": (*judge).builtins, "compgen": (*judge).compgen, "sourced": (*judge).sourced, "man": (*judge).man, "pager": (*judge).pager,
		"ps": (*judge).ps, "wrapper": (*judge).wrapper, "typescript": (*judge).typescript, "tracer": (*judge).tracer, "shells": (*judge).shells,
		"foreign": (*judge).interpreter, "python": (*judge).python, "interpreter": (*judge).interpreter, "editor": (*judge).editor, "sqlite": (*judge).sqlite,
		"scheduler": (*judge).scheduler, "make": (*judge).make, "kill": (*judge).kill, "systemctl": (*judge).systemctl, "launchctl": (*judge).launchctl,
		"sshadd": (*judge).sshAdd, "sysctl": (*judge).sysctl, "packages": (*judge).packages, "mounts": (*judge).mounts, "power": (*judge).power,
		"passwords": (*judge).passwords, "car": (*judge).car,
		// builds
		"cmake": (*judge).cmake, "paths": (*judge).buildPaths, "versions": (*judge).versions, "meson": (*judge).installs, "bazel": (*judge).bazel,
		"jvm": (*judge).buildPaths, "pipconfig": (*judge).settings, "npmconfig": (*judge).settings, "npx": (*judge).npx, "packagescript": (*judge).packageScript, "go": (*judge).goRoot,
		"gotool": (*judge).goTool, "golist": (*judge).goList, "gomod": (*judge).goMod, "formatter": (*judge).formatter, "cargo": (*judge).versions,
		"compiler": (*judge).compiler, "composer": (*judge).composer, "pods": (*judge).installs, "builders": (*judge).installs, "java": (*judge).java,
		// git
		"git": (*judge).git, "gitread": (*judge).gitRead, "gitwrite": (*judge).gitWrite, "gitclean": (*judge).gitClean, "gitloss": (*judge).gitLoss,
		"gitremote": (*judge).gitRemote, "gitpush": (*judge).gitPush, "gitremoteset": (*judge).gitRemote, "gitconfig": (*judge).gitConfig,
		"gitforeach": (*judge).gitForeach, "gitbisect": (*judge).gitBisect,
		// network
		"curl": (*judge).curl, "wget": (*judge).wget, "httpie": (*judge).httpie, "uploads": (*judge).uploads, "socket": (*judge).socket,
		"ssh": (*judge).ssh, "scp": (*judge).scp, "cloud": (*judge).cloud, "container": (*judge).container, "database": (*judge).database,
	}
}

func (j *judge) handled(c *call) bool {
	if c.row.check == "" {
		return false
	}
	h, ok := j.p.handlers[c.row.check]
	if !ok {
		j.ask(c, ruleUnknown, "has no handler", "")
		return false
	}
	return h(j, c)
}

// word returns operand i as text, empty when it is not static or not there.
func (c *call) word(i int) string {
	if i >= len(c.operands) {
		return ""
	}
	s, _ := c.operands[i].Static()
	return s
}

// argText returns the static text of every argument.
func (c *call) argText() []string {
	out := make([]string, len(c.args))
	for i, a := range c.args {
		out[i], _ = a.Static()
	}
	return out
}
