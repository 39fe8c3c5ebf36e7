package policy

import (
	"slices"
	"strings"

	"car/internal/engine/ir"
)

func (j *judge) jq(c *call) bool {
	j.apply(c)
	operands := c.operands
	if c.value("-f", "--from-file") == nil && len(operands) > 0 {
		if text, ok := operands[0].Static(); ok {
			j.jqFilter(c, text)
		} else {
			j.unknownText(c, operands[0])
		}
		operands = operands[1:]
	}
	if v := c.value("-L"); v != nil {
		for _, at := range j.places(c, *v, true) {
			if at.zone != inside {
				j.ask(c, ruleHelper, "loads code from outside the root", "")
			}
		}
	}
	if i := slices.IndexFunc(c.options, func(o given) bool { return o.name == "--args" || o.name == "--jsonargs" }); i >= 0 && len(operands) > 0 {
		return true
	}
	for i, t := range c.argText() {
		if (t == "--slurpfile" || t == "--rawfile") && i+2 < len(c.args) {
			j.read(c, c.args[i+2], false)
		}
	}
	skip := 0
	for _, w := range operands {
		if skip > 0 {
			skip--
			continue
		}
		j.read(c, w, false)
	}
	return true
}

// jqFilter refuses env and $ENV, which hold the whole environment; one variable
// of them is judged by its name.
func (j *judge) jqFilter(c *call, filter string) {
	for i := 0; i < len(filter); i++ {
		rest := filter[i:]
		switch {
		case rest[0] == '"':
			// A string may hold \(…), which is code again; skip plain ones.
			n := 1
			for n < len(rest) && rest[n] != '"' {
				if rest[n] == '\\' {
					n++
				}
				n++
			}
			if strings.Contains(rest[:min(n, len(rest))], `\(`) {
				j.jqFilter(c, rest[1:min(n, len(rest))])
			}
			i += n
			continue
		case strings.HasPrefix(rest, "$ENV"):
		case strings.HasPrefix(rest, "env") && (i == 0 || !jqWord(filter[i-1]) && filter[i-1] != '.' && filter[i-1] != '$') && (len(rest) == 3 || !jqWord(rest[3])):
			if after := strings.TrimLeft(rest[3:], " "); strings.HasPrefix(after, ":") {
				continue
			}
		default:
			continue
		}
		name := strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(rest, "$ENV"), "env"), ".[\"")
		end := strings.IndexFunc(name, func(r rune) bool {
			return !(r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z')
		})
		if end < 0 {
			end = len(name)
		}
		member := strings.TrimPrefix(strings.TrimPrefix(rest, "$ENV"), "env")
		if end == 0 || !strings.HasPrefix(member, ".") && !strings.HasPrefix(member, "[") {
			j.never(c, ruleEnvDump)
			return
		}
		if j.p.secretVariable(name[:end]) {
			j.deny(c, ruleSecretRead, "would print the value of $"+name[:end], "")
		}
	}
}

func jqWord(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z'
}

func (j *judge) yq(c *call) bool {
	for _, t := range c.argText() {
		if strings.Contains(t, "env(") || strings.Contains(t, "envsubst") || strings.Contains(t, "strenv(") {
			j.ask(c, ruleEnvDump, "reads the environment", "")
		}
		if strings.Contains(t, "load(") || strings.Contains(t, "load_str(") {
			j.ask(c, ruleUnknown, "reads files that its program names", "")
		}
	}
	if c.has("-i", "--inplace", "-iy", "-yi") {
		c.class = "edit"
		j.apply(c)
		for i, w := range c.operands {
			if i > 0 {
				j.write(c, w, creates)
			}
		}
	}
	if len(c.operands) == 1 {
		if t, ok := c.operands[0].Static(); ok && strings.ContainsAny(t, "/") && !strings.ContainsAny(t, " |") {
			j.apply(c)
			j.read(c, c.operands[0], false)
			return true
		}
	}
	return false
}

func (j *judge) openssl(c *call) bool {
	sub := c.word(0)
	outs := []string{"-out", "-keyout", "-writerand", "-sigopt_out", "-CAserial"}
	ins := []string{"-in", "-inkey", "-key", "-cert", "-CAfile", "-CA", "-CAkey", "-config", "-signkey", "-certfile", "-rand", "-extfile", "-CApath", "-pubin_file", "-sign", "-verify_key"}
	helpers := []string{"-engine", "-provider", "-provider-path", "-provider_path"}
	switch sub {
	case "s_client", "s_server", "s_time", "ocsp", "cmp", "http":
		c.class = "network"
		j.shellOnPipe(c)
	}
	j.apply(c)
	for i, t := range c.argText() {
		if i+1 >= len(c.args) {
			break
		}
		switch {
		case slices.Contains(outs, t):
			j.write(c, c.args[i+1], creates)
		case slices.Contains(ins, t):
			j.read(c, c.args[i+1], false)
		case slices.Contains(helpers, t):
			j.helper(c, c.args[i+1])
		case t == "-connect":
			j.network = true
		case t == "-passin" || t == "-passout" || t == "-pass" || t == "-k":
			if what, ok := j.secretPart(c.args[i+1]); ok {
				j.ask(c, ruleSecretSend, "is handed "+what, "")
			}
		}
	}
	switch sub {
	case "dgst", "sha1", "sha256", "sha512", "md5", "sha384":
		for i, w := range c.args {
			if t, ok := w.Static(); ok && i > 0 && !strings.HasPrefix(t, "-") {
				if prev, _ := c.args[i-1].Static(); !strings.HasPrefix(prev, "-") || prev == "-r" || prev == "-sha256" || prev == "-md5" || prev == "-sha1" || prev == "-sha512" {
					j.read(c, w, false)
				}
			}
		}
	}
	return true
}

func (j *judge) gpg(c *call) bool {
	if c.name == "sops" && (c.has("-d", "--decrypt") || c.word(0) == "decrypt" || c.word(0) == "exec-env" || c.word(0) == "exec-file") {
		j.never(c, ruleSecretRead)
		return true
	}
	if strings.HasPrefix(c.name, "gpg") && c.has("--list-keys", "--version", "-k", "--fingerprint", "--verify") {
		c.classSet = true
		j.ask(c, ruleSecretRead, "looks into a key store", "")
		return true
	}
	return false
}

func (j *judge) sshKeygen(c *call) bool {
	if c.has("-y") || c.has("-p") || c.has("-e") {
		j.apply(c)
		if v := c.value("-f"); v != nil {
			j.read(c, *v, false)
		}
		return true
	}
	if c.has("-l") {
		c.class = "read"
		c.classSet = true
		if v := c.value("-f"); v != nil {
			j.read(c, *v, false)
		}
		return true
	}
	if v := c.value("-f"); v != nil {
		j.write(c, *v, creates)
	}
	return false
}

// media judges converters by their operands: any may be read, the last is
// written.
func (j *judge) media(c *call) bool {
	if c.name == "identify" || c.name == "ffprobe" || c.name == "exiftool" && !strings.Contains(strings.Join(c.argText(), " "), "=") {
		c.class = "read"
	}
	j.apply(c)
	n := len(c.operands)
	for i, w := range c.operands {
		t, ok := w.Static()
		if !ok || strings.Contains(t, "://") {
			j.argument(c, w, roleHost)
			c.raise(ir.FullAccess, ir.Irreversible, "may reach the network")
			continue
		}
		if i == n-1 && n > 1 && c.class != "read" && c.name != "pandoc" && c.name != "dot" {
			j.write(c, w, creates)
			continue
		}
		if strings.ContainsAny(t, "/.") {
			j.read(c, w, false)
		}
	}
	for i, t := range c.argText() {
		if t == "-i" && i+1 < len(c.args) {
			j.read(c, c.args[i+1], false)
		}
	}
	return true
}
