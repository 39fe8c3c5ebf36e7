package substrate

import (
	"path/filepath"
	"slices"
	"strings"
)

// secretPath reports whether a path, link-free or not, names a file whose
// content must not be shown (T-FILE-5): in any letter case, trailing dots and
// spaces dropped (D27).
func secretPath(path string) bool {
	parts := strings.Split(strings.ToLower(filepath.ToSlash(path)), "/")
	for i := range parts {
		parts[i] = strings.TrimRight(parts[i], ". ")
	}
	base := parts[len(parts)-1]
	if strings.HasSuffix(base, ".pub") {
		return false
	}
	for _, dir := range parts {
		if dir == ".ssh" || dir == ".gnupg" {
			return true
		}
	}
	return secretBase(base) || secretTail(parts)
}

// secretBase judges a lower-case name without its folder.
func secretBase(base string) bool {
	if base == ".env" {
		return true
	}
	if kind, found := strings.CutPrefix(base, ".env."); found {
		return !slices.Contains([]string{"example", "sample", "template", "dist"}, kind)
	}
	if strings.HasPrefix(base, "id_") {
		return isKeyName(base)
	}
	return slices.Contains([]string{
		".netrc", "_netrc", ".npmrc", ".pgpass", ".pypirc", ".git-credentials", ".vault-token",
		"application_default_credentials.json", "credentials.tfrc.json",
	}, base)
}

// isKeyName accepts id_<algorithm> and id_<algorithm>_<anything>, so that
// id_map.go of a project stays an ordinary file.
func isKeyName(base string) bool {
	for _, algorithm := range []string{"rsa", "dsa", "ecdsa", "ed25519", "xmss"} {
		rest, found := strings.CutPrefix(base, "id_"+algorithm)
		if found && !strings.Contains(rest, ".") {
			return true
		}
	}
	return false
}

// secretTail judges credential files that only their folder makes secret.
func secretTail(parts []string) bool {
	tails := [][]string{
		{".aws", "credentials"}, {".aws", "config"}, {".kube", "config"}, {".docker", "config.json"},
		{".cargo", "credentials"}, {".cargo", "credentials.toml"}, {".gem", "credentials"},
		{".config", "gh", "hosts.yml"}, {".config", "gcloud", "credentials.db"}, {".config", "gcloud", "access_tokens.db"},
		{".azure", "accesstokens.json"}, {".azure", "msal_token_cache.json"}, {".azure", "msal_token_cache.bin"},
		{".oci", "config"}, {".config", "doctl", "config.yaml"},
	}
	for _, tail := range tails {
		if len(parts) >= len(tail) && slices.Equal(parts[len(parts)-len(tail):], tail) {
			return true
		}
	}
	return false
}

// secretFolders are the folders below a home whose files may have second names
// elsewhere.
func secretFolders(home string) []string {
	if home == "" {
		return nil
	}
	dirs := []string{home}
	for _, d := range []string{".ssh", ".gnupg", ".aws", ".kube", ".docker", ".cargo", ".azure"} {
		dirs = append(dirs, filepath.Join(home, d))
	}
	return dirs
}
