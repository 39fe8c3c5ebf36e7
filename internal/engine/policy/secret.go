package policy

import (
	"path"
	"strings"
)

// secretHome lists, below the home folder, files and folders that hold
// credentials (D04, D10, T-FILE-5). A trailing slash is a folder with all below.
const secretHome = `
.ssh/ .gnupg/ .pki/ .password-store/
.aws/ .azure/ .kube/ .oci/ .bluemix/ .aliyun/ .minikube/ .config/gcloud/ .config/doctl/ .config/hcloud/ .config/scw/ .config/linode-cli
.docker/config.json .config/containers/auth.json .dockercfg
.netrc _netrc .authinfo .authinfo.gpg .git-credentials .config/git/credentials
.npmrc .yarnrc.yml .pypirc .pgpass .my.cnf .mylogin.cnf .config/pip/pip.conf .gem/credentials .cargo/credentials .cargo/credentials.toml
.config/gh/ .config/hub .config/glab-cli/ .config/op/ .op/ .config/rclone/ .s3cfg .boto .databrickscfg .terraformrc .terraform.d/
.composer/auth.json .config/composer/auth.json .m2/settings.xml .m2/settings-security.xml .nuget/nuget.config .config/nuget/
.vault-token .config/sops/ .config/age/ .age/ .huggingface/token .cache/huggingface/token .kaggle/kaggle.json .snowflake/ .dbt/profiles.yml
.local/share/keyrings/ .local/share/kwalletd/ library/keychains/ .mozilla/ .config/google-chrome/ .config/chromium/ .thunderbird/
.config/heroku/ .config/netlify/ .fly/config.yml .config/configstore/ .wrangler/ .config/stripe/ .ngrok2/ .config/ngrok/ .electrum/ .bitcoin/ .ethereum/
.codex/auth.json .claude/.credentials.json .config/claude/ .gemini/oauth_creds.json .config/openai/
`

// secretSystem lists system files that hold credentials.
const secretSystem = `
/etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/master.passwd /etc/sudoers /etc/sudoers.d/ /etc/krb5.keytab
/var/run/secrets/ /run/secrets/ /etc/ssl/private/ /etc/kubernetes/ /var/lib/docker/ /etc/docker/key.json /etc/netplan/ /etc/wireguard/ /etc/NetworkManager/system-connections/
`

// secretOf tells whether a path names a secret, in any letter case (D27).
func (p *Policy) secretOf(abs string) secretKind {
	names := parts(abs)
	if len(names) == 0 {
		return noSecret
	}
	plain := "/" + strings.Join(names, "/")
	base := names[len(names)-1]
	if k := procSecret(names); k != noSecret {
		return k
	}
	if k := p.homeSecret(names, plain, base); k != noSecret {
		return k
	}
	if listed(secretSystem, plain) || strings.HasPrefix(plain, "/etc/ssh/ssh_host_") && strings.HasSuffix(plain, "_key") {
		return credential
	}
	if isEnvFile(base) {
		return envFile
	}
	switch base {
	case "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", "id_xmss",
		".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials", ".htpasswd", ".vault-token":
		return credential
	}
	switch path.Ext(base) {
	case ".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx":
		return askSecret
	}
	return noSecret
}

// homeSecret looks below every home folder: the person's and others'.
func (p *Policy) homeSecret(names []string, plain, base string) secretKind {
	rel := ""
	if r, ok := below(strings.ToLower(p.cfg.Home), plain); ok && p.cfg.Home != "" {
		rel = r
	} else if names[0] == "root" && len(names) > 1 {
		rel = strings.Join(names[1:], "/")
	} else if (names[0] == "home" || names[0] == "users") && len(names) > 2 {
		rel = strings.Join(names[2:], "/")
	}
	if rel == "" || rel == "." {
		return noSecret
	}
	if r, ok := below(strings.ToLower(p.cfg.Root), plain); ok && !strings.HasPrefix(strings.ToLower(p.cfg.Home), strings.ToLower(p.cfg.Root)) {
		_ = r // below the root a name counts by its base only
		return noSecret
	}
	first, _, _ := strings.Cut(rel, "/")
	if first == ".ssh" || first == ".gnupg" {
		if strings.HasSuffix(base, ".pub") && base != first {
			return noSecret
		}
		return keyStore
	}
	if listed(secretHome, rel) {
		return credential
	}
	return noSecret
}

// listed looks a path up in a list of files and folders.
func listed(list, name string) bool {
	for one := range strings.FieldsSeq(list) {
		if dir, ok := strings.CutSuffix(one, "/"); ok {
			if name == dir || strings.HasPrefix(name, one) {
				return true
			}
		} else if name == one {
			return true
		}
	}
	return false
}

// isEnvFile reports .env and its variants, templates apart (D04).
func isEnvFile(base string) bool {
	if base == ".env" {
		return true
	}
	suffix, ok := strings.CutPrefix(base, ".env.")
	if !ok {
		return false
	}
	switch suffix {
	case "example", "sample", "template", "dist":
		return false
	}
	return true
}

// procSecret reports the copy of an environment, and of memory, in procfs.
func procSecret(names []string) secretKind {
	if names[0] != "proc" || len(names) < 3 {
		return noSecret
	}
	switch names[len(names)-1] {
	case "environ":
		return environment
	case "mem", "auxv":
		return credential
	}
	return noSecret
}

// envNames are the names that a pattern is tried against, to see whether it can
// match a secret of the .env family.
func envNames() []string {
	return []string{".env", ".env.local", ".env.production", ".env.development", ".env.test", ".env.staging"}
}
