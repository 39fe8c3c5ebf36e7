package policy

import (
	"path"
	"slices"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/shell"
)

func (j *judge) curl(c *call) bool {
	j.apply(c)
	for _, o := range c.options {
		if o.name == "-O" || o.name == "--remote-name" || o.name == "--remote-name-all" {
			c.raise(ir.FullAccess, ir.Irreversible, "reaches the network")
		}
		if o.name == "-o" || o.name == "--output" {
			c.rev = ir.Irreversible
		}
	}
	for _, o := range c.options {
		if (o.name == "-H" || o.name == "--header") && o.value != nil {
			j.curlHeader(c, *o.value)
		}
	}
	for _, w := range c.operands {
		j.address(c, w)
	}
	return true
}

// curlHeader refuses headers that name another server or ask for metadata.
func (j *judge) curlHeader(c *call, w shell.Word) {
	if strings.HasPrefix(w.Prefix(), "@") {
		if rest, ok := w.Cut(1); ok {
			j.read(c, rest, false)
		}
		return
	}
	name, _, _ := strings.Cut(w.Prefix(), ":")
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "metadata-flavor", "x-aws-ec2-metadata-token", "x-aws-ec2-metadata-token-ttl-seconds":
		j.deny(c, ruleNetwork, "has the header that metadata servers ask for", "")
	case "authorization", "x-api-key", "api-key", "x-auth-token", "private-token", "proxy-authorization", "cookie", "x-access-token", "x-goog-api-key", "apikey":
	default:
		if what, ok := j.secretPart(w); ok {
			j.deny(c, ruleSecretSend, "would send "+what+" in a header that is not made for it", "use Authorization")
		}
	}
}

func (j *judge) wget(c *call) bool {
	j.apply(c)
	for _, o := range c.options {
		if (o.name == "--header") && o.value != nil {
			j.curlHeader(c, *o.value)
		}
	}
	if c.value("-O", "-P", "--output-document", "--directory-prefix") == nil {
		j.write(c, shell.Lit("./download"), creates)
	}
	for _, w := range c.operands {
		j.address(c, w)
	}
	return true
}

func (j *judge) httpie(c *call) bool {
	j.apply(c)
	for i, w := range c.operands {
		text := w.Prefix()
		switch {
		case i == 0 && strings.ToUpper(text) == text && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "":
		case strings.Contains(text, "=@") || strings.Contains(text, ":=@") || strings.Contains(text, "@") && i > 0 && !strings.Contains(text, "://"):
			if at := strings.IndexByte(text, '@'); at >= 0 {
				if rest, ok := w.Cut(at + 1); ok {
					j.read(c, rest, false)
				}
			}
		case i > 0 && strings.Contains(text, ":") && !strings.Contains(text, "="):
			j.curlHeader(c, w)
		case strings.Contains(text, "="):
			j.sent(c, w, false)
		default:
			j.address(c, w)
		}
	}
	return true
}

// uploads judges transfer programs whose operands are files or remotes.
func (j *judge) uploads(c *call) bool {
	j.apply(c)
	for _, w := range c.operands {
		if what, ok := j.secretPart(w); ok {
			j.deny(c, ruleSecretSend, "would put "+what+" into a URL", "")
			continue
		}
		text, ok := w.Static()
		if !ok || strings.Contains(text, "://") || !strings.ContainsAny(text, "/.") {
			continue
		}
		if host, _, remote := strings.Cut(text, ":"); remote && !strings.Contains(host, "/") {
			continue
		}
		at := j.place(c, text, true)
		if at.secret >= envFile {
			j.readAt(c, at, false)
		}
	}
	return true
}

func (j *judge) socket(c *call) bool {
	j.apply(c)
	for i, w := range c.args {
		if what, ok := j.secretPart(w); ok {
			j.deny(c, ruleSecretSend, "would send "+what+" to another machine", "")
		}
		text, _ := w.Static()
		low := strings.ToLower(text)
		if strings.HasPrefix(low, "exec:") || strings.HasPrefix(low, "system:") || strings.Contains(low, ",exec:") {
			j.deny(c, ruleNetwork, "would wire a program to a network connection", "")
		}
		if (text == "-e" || text == "-c" || text == "--exec" || text == "--sh-exec") && i+1 < len(c.args) && (c.name == "nc" || c.name == "ncat" || c.name == "netcat") {
			j.deny(c, ruleNetwork, "would wire a program to a network connection", "")
		}
	}
	if c.cmd.Input.Feeds && j.feedsSecret(c) {
		j.deny(c, ruleSecretSend, "would send a secret to another machine", "")
	}
	j.shellOnPipe(c)
	return true
}

// feedsSecret reports input that was refused already; a second reason is none.
func (j *judge) feedsSecret(*call) bool { return false }

// shellOnPipe refuses a shell that a named pipe wires to this connection (D38).
func (j *judge) shellOnPipe(c *call) {
	for i := range j.script.Commands {
		other := &j.script.Commands[i]
		name, ok := other.Name()
		if !ok {
			continue
		}
		switch path.Base(name) {
		case "sh", "bash", "dash", "zsh", "ksh", "ash":
		default:
			continue
		}
		fed := c.cmd.Input.Feeds && i >= c.cmd.Input.From && i < c.cmd.Input.To
		feeds := other.Input.Feeds && c.index >= other.Input.From && c.index < other.Input.To
		pipe := false
		for _, r := range append(append([]shell.Redir(nil), other.Redirs...), c.cmd.Redirs...) {
			if t, ok := r.Target.Static(); ok && j.madePipe(t) {
				pipe = true
			}
		}
		if (fed || feeds) && pipe {
			j.deny(c, ruleNetwork, "would wire a shell to a network connection", "")
		}
	}
}

func (j *judge) madePipe(name string) bool {
	for _, cmd := range j.script.Commands {
		if n, _ := cmd.Name(); path.Base(n) == "mkfifo" || path.Base(n) == "mknod" {
			for _, w := range cmd.Words[1:] {
				if t, _ := w.Static(); t == name {
					return true
				}
			}
		}
	}
	return false
}

func (j *judge) ssh(c *call) bool {
	j.apply(c)
	if len(c.operands) > 0 {
		if what, ok := j.secretPart(c.operands[0]); ok {
			j.deny(c, ruleSecretSend, "would put "+what+" into a host name", "")
		}
		text, _ := c.operands[0].Static()
		j.host(text[strings.LastIndexByte(text, '@')+1:])
	}
	j.sshOptions(c)
	return true
}

// sshOptions opens -o settings that name programs.
func (j *judge) sshOptions(c *call) {
	for _, o := range c.options {
		if o.name != "-o" || o.value == nil {
			continue
		}
		text := o.text()
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			key, value, _ = strings.Cut(text, " ")
		}
		switch strings.ToLower(key) {
		case "proxycommand", "localcommand", "knownhostscommand", "securitykeyprovider", "pkcs11provider", "xauthlocation":
			j.readText(value, j.dir(c), false, c)
		}
	}
}

func (j *judge) scp(c *call) bool {
	j.apply(c)
	j.sshOptions(c)
	n := len(c.operands)
	for i, w := range c.operands {
		text := w.Prefix()
		host, _, remote := strings.Cut(text, ":")
		if remote && !strings.Contains(host, "/") {
			j.host(host[strings.LastIndexByte(host, '@')+1:])
			continue
		}
		if i < n-1 {
			j.read(c, w, c.has("-r"))
			continue
		}
		j.write(c, w, creates)
	}
	return true
}

// cloudSecrets are word sequences that make cloud clients print secrets.
const cloudSecrets = `
aws configure get|secret
aws configure export-credentials|
aws secretsmanager get-secret-value|
aws secretsmanager batch-get-secret-value|
aws ssm get-parameter|--with-decryption
aws ssm get-parameters|--with-decryption
aws ssm get-parameters-by-path|--with-decryption
aws ecr get-login-password|
aws ecr get-login|
aws sts get-session-token|
aws sts assume-role|
aws iam create-access-key|
aws kms decrypt|
aws eks get-token|
aws codeartifact get-authorization-token|
aws sso login|never
gcloud auth print-access-token|
gcloud auth print-identity-token|
gcloud auth application-default print-access-token|
gcloud secrets versions access|
gcloud config config-helper|
az account get-access-token|
az keyvault secret show|
az acr login|--expose-token
az storage account keys list|
gh auth token|
gh auth status|--show-token
gh auth status|-t
glab auth status|--show-token
heroku auth:token|
heroku config|
heroku config:get|
vercel env pull|
fly auth token|
flyctl auth token|
netlify env:list|
doctl auth list|never
ibmcloud iam oauth-tokens|
oc whoami|-t
oc whoami|--show-token
terraform state pull|
ansible-vault view|
ansible-vault decrypt|
huggingface-cli whoami|never
stripe config|--list
firebase login:ci|
kubectl config view|--raw
kubectl create token|
kubectl get secret|-o
kubectl get secrets|-o
kubectl get secret|--output
kubectl get secrets|--output
kubectl get secret|--template
k get secret|-o
docker secret inspect|never
argocd account generate-token|
consul kv get|never
pulumi config|--show-secrets
pulumi stack output|--show-secrets
`

// cloudSecret reports a call that prints a secret.
func cloudSecret(words []string) bool {
	var plain []string
	for _, w := range words {
		if !strings.HasPrefix(w, "-") {
			plain = append(plain, w)
		}
	}
	line := " " + strings.Join(plain, " ") + " "
	for row := range strings.SplitSeq(strings.TrimSpace(cloudSecrets), "\n") {
		seq, need, _ := strings.Cut(row, "|")
		if !strings.HasPrefix(line, " "+seq+" ") {
			continue
		}
		if need == "" {
			return true
		}
		for _, w := range words {
			if w == need || strings.HasPrefix(w, need+"=") || len(need) == 2 && strings.HasPrefix(w, need) || need == "secret" && (strings.Contains(strings.ToLower(w), "secret") || strings.Contains(strings.ToLower(w), "token")) {
				return true
			}
		}
	}
	return false
}

func (j *judge) cloudWords(c *call) []string {
	return append([]string{strings.Fields(c.name)[0]}, c.argText()...)
}

func (j *judge) cloud(c *call) bool {
	if cloudSecret(j.cloudWords(c)) {
		j.never(c, ruleSecretRead)
		return true
	}
	j.apply(c)
	if c.name == "gh" && c.word(0) == "repo" && c.word(1) == "delete" || c.word(0) == "destroy" {
		c.rev = ir.Irreversible
	}
	for _, w := range c.args {
		text := w.Prefix()
		if what, ok := j.secretPart(w); ok && !strings.Contains(text, "token") {
			j.ask(c, ruleSecretSend, "is handed "+what, "")
		}
		if t, ok := w.Static(); ok && strings.ContainsAny(t, "/.") && !strings.Contains(t, "://") && !strings.HasPrefix(t, "-") && !strings.Contains(t, " ") {
			t = strings.TrimPrefix(strings.TrimPrefix(t, "fileb://"), "file://")
			if at := j.place(c, t, true); at.secret >= envFile {
				j.readAt(c, at, false)
			}
		}
	}
	return true
}

// kubectlClient reports the question for kubectl's own version, which asks no
// cluster.
func kubectlClient(c *call) bool {
	args := c.argText()
	if c.name != "kubectl" || len(args) < 2 || args[0] != "version" || !slices.Contains(args, "--client") && !slices.Contains(args, "--client=true") {
		return false
	}
	for _, a := range args[1:] {
		switch a {
		case "--client", "--client=true", "-o", "--output", "json", "yaml", "-ojson", "-oyaml", "-o=json", "-o=yaml", "--output=json", "--output=yaml", "--short":
		default:
			return false
		}
	}
	return true
}

// container judges docker and its kin: what sees the host is refused (D22), all
// else is asked for (D20).
func (j *judge) container(c *call) bool {
	if cloudSecret(j.cloudWords(c)) {
		j.never(c, ruleSecretRead)
		return true
	}
	if kubectlClient(c) {
		c.classSet = true
		return true
	}
	j.apply(c)
	args := c.args
	for i := 0; i < len(args); i++ {
		text, ok := args[i].Static()
		if !ok {
			text = args[i].Prefix()
		}
		name, value, found := strings.Cut(text, "=")
		next := func() string {
			if found {
				return value
			}
			if i+1 < len(args) {
				return args[i+1].String()
			}
			return ""
		}
		switch name {
		case "--privileged":
			if !found || value != "false" {
				j.deny(c, rulePrivilege, "would start a container with the host's privileges", "run it without")
			}
		case "-v", "--volume", "--mount":
			j.volume(c, name, next())
		case "--pid", "--ipc", "--userns", "--uts", "--cgroupns", "--network", "--net":
			if next() == "host" && name != "--network" && name != "--net" && name != "--uts" {
				j.deny(c, rulePrivilege, "would start a container that sees the host's processes", "run it without")
			}
		case "--cap-add":
			switch strings.TrimPrefix(strings.ToUpper(next()), "CAP_") {
			case "ALL", "SYS_ADMIN", "SYS_PTRACE", "SYS_MODULE", "SYS_RAWIO", "DAC_READ_SEARCH", "NET_ADMIN", "BPF":
				j.deny(c, rulePrivilege, "would start a container with the host's privileges", "run it without")
			}
		case "--device", "--device-cgroup-rule":
			j.deny(c, rulePrivilege, "would give a container a device of the host", "run it without")
		case "--security-opt":
			if v := next(); strings.Contains(v, "unconfined") || strings.Contains(v, "disable") {
				j.deny(c, rulePrivilege, "would start a container without its confinement", "run it without")
			}
		case "--env-file":
			j.read(c, shell.Lit(next()), false)
		}
		if strings.HasPrefix(text, "-v") && len(text) > 2 && !strings.HasPrefix(text, "--") && strings.Contains(text, ":") {
			j.volume(c, "-v", text[2:])
		}
	}
	return true
}

// volume judges what of the host a container would see.
func (j *judge) volume(c *call, option, spec string) {
	source := ""
	if option == "--mount" {
		bind := false
		for f := range strings.SplitSeq(spec, ",") {
			k, v, _ := strings.Cut(f, "=")
			switch k {
			case "type":
				bind = v == "bind"
			case "source", "src":
				source = v
			}
		}
		if !bind {
			return
		}
	} else {
		var ok bool
		if source, _, ok = strings.Cut(spec, ":"); !ok {
			return
		}
	}
	if !strings.ContainsAny(source, "/.~") || source == "" {
		return
	}
	if strings.Contains(source, "$") {
		j.ask(c, ruleUnknown, "mounts a path that is not known", "")
		return
	}
	at := j.place(c, source, true)
	if strings.HasSuffix(at.abs, ".sock") || at.zone == outside || at.zone == readable {
		j.deny(c, rulePrivilege, "would give a container a part of the host ("+at.text+")", "mount a folder below the root")
		return
	}
	if at.secret >= envFile {
		j.readAt(c, at, false)
	}
}

func (j *judge) database(c *call) bool {
	j.apply(c)
	for i, w := range c.args {
		text, ok := w.Static()
		if !ok {
			continue
		}
		prev := ""
		if i > 0 {
			prev, _ = c.args[i-1].Static()
		}
		trimmed := strings.TrimSpace(text)
		switch {
		case (prev == "-c" || prev == "--command") && strings.HasPrefix(trimmed, `\!`):
			j.readText(strings.TrimPrefix(trimmed, `\!`), j.dir(c), false, c)
		case (prev == "-e" || prev == "--execute") && (strings.HasPrefix(trimmed, `\!`) || strings.HasPrefix(trimmed, "system ")):
			j.readText(strings.TrimPrefix(strings.TrimPrefix(trimmed, `\!`), "system "), j.dir(c), false, c)
		}
	}
	return true
}
