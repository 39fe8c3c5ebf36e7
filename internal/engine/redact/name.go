package redact

import (
	"slices"
	"strings"
)

// SecretName reports whether a variable, member, option or header of this name
// is expected to hold a secret (T-RED-1). Environment filtering uses it too
// (T-SHELL-6).
func SecretName(name string) bool {
	upper := strings.ToUpper(name)
	for _, vendor := range []string{"OPENAI_", "ANTHROPIC_", "AZURE_CLIENT_", "CONNECTION_STRING"} {
		if strings.Contains(upper, vendor) {
			return true
		}
	}
	return ShapedLikeSecret(name)
}

// ShapedLikeSecret is the narrower question of corpus D05: whether the words of
// a name say that its value is a secret, in any usual joining (API_KEY, apiKey,
// api-key, PGPASSWORD). Counts, lengths, files and references are not.
func ShapedLikeSecret(name string) bool {
	words := nameWords(name)
	for len(words) > 0 && qualifies(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return false
	}
	last, before := words[len(words)-1], words[:len(words)-1]
	switch {
	case last == "token" || strings.HasSuffix(last, "authtoken") || strings.HasSuffix(last, "accesstoken"):
		return !slices.ContainsFunc(before, pagination)
	case last == "key":
		return keyWords(name, before)
	case last == "pass":
		return len(before) > 0 && (isUpper(name) || account(before[len(before)-1]))
	}
	for _, end := range []string{"password", "passwd", "passphrase", "secret", "credential", "credentials", "apikey", "secretkey", "privatekey", "accesskey", "authkey", "apitoken", "clientsecret"} {
		if strings.HasSuffix(last, end) {
			return true
		}
	}
	// PWD and OLDPWD are folders; DB_PWD is not.
	return name == "_auth" || strings.HasSuffix(last, "pwd") && (len(before) > 0 || last != "pwd" && last != "oldpwd")
}

// nameWords splits a name at separators and humps, in lower case.
func nameWords(name string) []string {
	var words []string
	var cur strings.Builder
	flush := func() {
		if cur.Len() > 0 {
			words = append(words, strings.ToLower(cur.String()))
			cur.Reset()
		}
	}
	for i := 0; i < len(name); i++ {
		ch := name[i]
		switch {
		case ch == '_' || ch == '-' || ch == '.' || ch == ' ' || ch == '/' || ch == ':':
			flush()
			continue
		case upper(ch) && i > 0 && (!upper(name[i-1]) || i+1 < len(name) && lower(name[i+1])):
			flush()
		}
		cur.WriteByte(ch)
	}
	flush()
	return words
}

func upper(b byte) bool { return b >= 'A' && b <= 'Z' }
func lower(b byte) bool { return b >= 'a' && b <= 'z' }
func digit(b byte) bool { return b >= '0' && b <= '9' }

func isUpper(name string) bool { return strings.ToUpper(name) == name }

// qualifies reports words behind a secret's name that leave it one: numbers,
// stages and encodings.
func qualifies(word string) bool {
	if strings.Trim(word, "0123456789") == "" || len(word) == 2 && word[0] == 'v' && digit(word[1]) {
		return true
	}
	switch word {
	case "base", "id", "old", "new", "prod", "production", "dev", "test", "staging", "live", "default", "value", "backup", "previous",
		"current", "primary", "secondary", "main", "b64", "base64", "hex", "plain", "local", "ci", "read", "write", "rw", "ro":
		return true
	}
	return false
}

func pagination(word string) bool {
	switch word {
	case "next", "page", "continuation", "cursor", "sync", "resume", "previous", "prev", "max", "min", "num", "total", "first", "last", "stop", "eos", "bos", "pad", "unk", "mask", "cancellation":
		return true
	}
	return false
}

// keyWords tells the key to a lock from the key of a table.
func keyWords(name string, before []string) bool {
	if len(before) == 0 {
		return false
	}
	secret := false
	for _, w := range before {
		switch w {
		case "public", "pub", "primary", "foreign", "sort", "cache", "partition", "index", "row", "object", "hash", "map", "hot", "group",
			"lookup", "composite", "unique", "candidate", "shortcut", "any", "arrow", "idempotency", "range", "registry", "routing":
			return false
		case "api", "secret", "private", "access", "signing", "sign", "encryption", "encrypt", "master", "auth", "account", "license",
			"jwt", "hmac", "aes", "shared", "session", "storage", "admin", "client", "consumer", "webhook", "deploy", "service", "crypto", "vault", "sas":
			secret = true
		}
	}
	return secret || isUpper(name)
}

func account(word string) bool {
	switch word {
	case "db", "database", "smtp", "mail", "email", "user", "admin", "root", "ftp", "sftp", "redis", "mysql", "pg", "postgres", "rabbitmq", "mongo", "login", "auth", "proxy", "ldap", "sudo", "basic", "http":
		return true
	}
	return false
}
