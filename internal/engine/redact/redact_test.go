package redact

import (
	"bytes"
	"encoding/base64"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
)

// Values are put together here so that no scanner takes this file for a leak.
const (
	ghp      = "gh" + "p_FAKEfakeFAKEfakeFAKEfakeFAKEfake0001"
	sk       = "sk" + "-test-AAAA1111BBBB2222CCCC"
	random47 = "qT7vXb2LmZ9kRw4HsYc1NpJd8FgUe5AiOo3VtKxSlBhQjGy"
	begin    = "-----BEGIN " + "RSA PRIVATE KEY-----"
	end      = "-----END " + "RSA PRIVATE KEY-----"
)

// G-REDACT-1, T-RED-1, T-RED-2: more spellings of what the corpus asks for.
func TestMasks(t *testing.T) {
	t.Parallel()
	r := New(nil)
	for _, c := range []struct{ text, hide string }{
		{"AWS_SECRET_ACCESS_KEY=abc/def+ghi123", "abc/def+ghi123"},
		{"aws_secret_access_key = abcdEFGH1234ijkl", "abcdEFGH1234ijkl"},
		{"aws_access_key_id = AK" + "IAFAKEFAKEFAKE1234", "IAFAKEFAKEFAKE1234"},
		{"export GITHUB_TOKEN=fake000111222", "fake000111222"},
		{`{"password":"hunter2"}`, "hunter2"},
		{`{"apiKey": "fake000111222"}`, "fake000111222"},
		{"api-key: fake000111222", "fake000111222"},
		{"  client_secret: 'fake 000 111'", "fake 000 111"},
		{"PGPASSWORD=fakepw000 psql -h db", "fakepw000"},
		{"DB_PASSWORD=swordfish", "swordfish"},
		{"set NPM_TOKEN=fake000111222", "fake000111222"},
		{"$env:API_KEY = \"fake000111222\"", "fake000111222"},
		{"os.environ['API_SECRET'] = 'fake000111222'", "fake000111222"},
		{":secret_key_base => 'fake000111222'", "fake000111222"},
		{"ARG NPM_TOKEN=fake000111222", "fake000111222"},
		{"spring.datasource.password=fakepw000", "fakepw000"},
		{"//registry.example/:_authToken=fake000111222", "fake000111222"},
		{"Server=db;User Id=app;Password=fakepw000;", "fakepw000"},
		{"--token=fake000111222 run", "fake000111222"},
		{"--password fakepw000 run", "fakepw000"},
		{"sshpass -p fakepw000 ssh host", "fakepw000"},
		{"curl -u dev:fakepw000 https://example.com", "fakepw000"},
		{"Authorization: Bearer abcdefghijkl", "abcdefghijkl"},
		{"> authorization: Basic ZGV2OmZha2Vwdw==", "ZGV2OmZha2Vwdw=="},
		{`"Authorization": "token fake000111222"`, "fake000111222"},
		{"Proxy-Authorization: Basic ZGV2OmZha2Vwdw==", "ZGV2OmZha2Vwdw=="},
		{"postgres://app:fakepw000@db.example:5432/app", "fakepw000"},
		{"redis://:fakepw000@cache.example/0", "fakepw000"},
		{"https://example.com/?access_token=fake000111222", "fake000111222"},
		{"https://example.com/cb?code=fake000111222&state=1", "fake000111222"},
		{"https://example.com/#id_token=fake000111222", "fake000111222"},
		{"token " + ghp, ghp},
		{"key is " + sk, sk},
		{"xo" + "xb-1234567890-abcdefABCDEF", "1234567890-abcdefABCDEF"},
		{"the value " + random47 + " is long", random47},
		{begin + "\nMIIB\n" + end, "MIIB"},
		{"12\t" + begin + "\n13\tMIIBfakefake\n14\t" + end, "MIIBfakefake"},
		{"KEY=\"" + begin + " MIIBfakefakefakefake " + end + "\"", "MIIBfakefakefakefake"},
		{"\x1b[1mDB_PASSWORD\x1b[0m: \x1b[31mfakepw000\x1b[0m", "fakepw000"},
		{"OPENAI_ORG=org-fake0001", "org-fake0001"},
		{"docker run -e POSTGRES_PASSWORD=fakepw000 postgres", "fakepw000"},
		{"<password>fakepw000</password>", "fakepw000"},
		{"<clientSecret>fake000111222</clientSecret>", "fake000111222"},
		{"machine example.com login dev password fakepw000", "fakepw000"},
		{`"auths": {"r.example": {"auth": "ZGV2OmZha2Vwdw=="}}`, "ZGV2OmZha2Vwdw=="},
		{"sent Bearer abcdef123456abcdef", "abcdef123456abcdef"},
		{"ALTER USER dev IDENTIFIED BY 'fakepw000'", "fakepw000"},
		{"db_pass: fakepw000", "fakepw000"},
		{"DATABASE_URL=postgres://u:fakepw@h/db", "fakepw"},
		{"password=swordfish", "swordfish"},
		{"client-secret: abc123def456", "abc123def456"},
		{"TWILIO_AUTH_TOKEN=0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcdef"},
		{"user=dev&password=fakepw000&x=1", "fakepw000"},
	} {
		got, n := r.String(c.text)
		if strings.Contains(got, c.hide) || n == 0 {
			t.Errorf("%q still shows the value: %q (%d hits)", c.text, got, n)
		}
		if again, m := r.String(got); again != got || m != 0 {
			t.Errorf("masking %q twice changes it to %q", got, again)
		}
	}
}

// G-REDACT-1: high precision. What only speaks of secrets stays.
func TestKeeps(t *testing.T) {
	t.Parallel()
	r := New(nil)
	for _, text := range []string{
		"password: string;", "token: string | null", "const token = getToken();", "password = getpass()", "token = tok",
		"if token != expected {", "api_key: ${API_KEY}", "api_key: {{ .Values.key }}", "PASSWORD=$1", "DB_PASSWORD=${DB_PASSWORD:?}",
		"TOKEN_FILE=/run/secrets/token", "PASSWORD_FILE=/run/pw", "token_type: bearer", "next_token: abc123def456", "foreign_key=user_id1",
		"public_key=abcdef123456", "cache_key: v1-linux-9f8e7d", "key: value", "Passwords must match.", "secrets: inherit", "tokens: 12345",
		"max_tokens=8192", "Token: EOF", "keyboard: us1234", "error: invalid token at line 12:5", "--- PASS: TestToken (0.00s)",
		"password: \"\"", "secret: null", "token: <token>", "TOKEN=xxxxxxxx", "password = ********", "git@example.com:team/repo.git",
		"ssh://git@example.com/repo.git", "https://example.com/a?page=2&sort=name", "https://user@example.com/", "https://dev:$TOKEN@example.com/x",
		"Authorization: Bearer <token>", "Authorization header is missing", "Cookie: a=1", "h1:2jmj7l5rSw0yVb/vlWAYkK/YBwk2m+J0Rcz1d9sQ0pA=",
		"commit 3f2a9c1d4b5e6f708192a3b4c5d6e7f801234567", "sk-some-long-file-name-in-lower-case", "task-12345678901234567890", "func NewTokenKeyPasswordSecretReaderForEverything2(t *T1) {}",
		"src/components/AccountSettings/PasswordReset/PasswordResetForm2.tsx", "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\nRTESMBAGA1UEChMJQmFsdGltb3JlMRMwEQYDVQQLEwpDeWJlclRydXN0MSIwIAYD\n-----END CERTIFICATE-----",
		"process.env.API_KEY", "apiKey: process.env.API_KEY,", "password: os.environ[\"PW\"]", "std::token::Kind", "token := lexer.Next()", "label: Password",
		"primary_key=id", "SSH_KEY_PATH=~/.ssh/id", "mysql -u root -p app", "curl -u $USER:$PASS https://example.com", "request_id=9b2d1c1e-7f0a-4a57-9c55-0d6b1f3a2e11",
		"The passphrase is asked for.", "token = None", "password=True", "TOKEN=", "export TOKEN", "PASSWORD_HASH_ROUNDS=12", "AUTH_TOKEN_TTL=3600", "API_KEY_HEADER=X-Api-Key",
		"Client(api_key=api_key, token=tok)", "self.password = password", "login(user, password=pw)", "connect(password=settings.db_password)", "<password></password>", "<password>${pw}</password>",
		"Bearer tokens are opaque strings", "bearer: true", "the word password appears", "IDENTIFIED BY 'x'", "\"image\": \"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk\"",
		"TOKEN_TYPE=bearer", "SECRET_NAME=db", "const apiKey = process.env.API_KEY;", "def get_token(self):", "secret := os.Getenv(\"X\")", "password: z.string().min(8),", "SECRETARY=anna12", "TOKENIZER=gpt2",
		"image@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----",
		"data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbImEuanMiXSwibmFtZXMiOltdfQ1234567890abcdefGHIJ",
	} {
		if got, n := r.String(text); got != text || n != 0 {
			t.Errorf("%q must stay, became %q", text, got)
		}
	}
}

// T-RED-3: withheld values, raw, base64 and URL-escaped, of at least 8 characters.
func TestExact(t *testing.T) {
	t.Parallel()
	const v = "zebra crossing/9"
	r := New([]string{v, "short"})
	for _, text := range []string{
		"it says " + v + " here",
		"url " + url.QueryEscape(v), "path " + url.PathEscape(v),
		"b64 " + base64.StdEncoding.EncodeToString([]byte(v)), "b64url " + base64.URLEncoding.EncodeToString([]byte(v)),
		"in json " + base64.StdEncoding.EncodeToString([]byte("x:"+v)),
	} {
		got, n := r.String(text)
		if n == 0 || strings.Contains(got, "zebra") || got == text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got, n := r.String("short words stay short"); n != 0 {
		t.Errorf("a value below 8 characters was masked: %q", got)
	}
	lines := New([]string{"first line 1\nsecond line 2"})
	if got, n := lines.String("first line 1\nother\nsecond line 2\n"); n != 2 || strings.Contains(got, "line 1") {
		t.Errorf("a value of two lines: %q, %d hits", got, n)
	}
}

// T-RED-1, T-SHELL-6, corpus D05.
func TestSecretName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"GITHUB_TOKEN", "OPENAI_BASE", "ANTHROPIC_X", "AZURE_CLIENT_ID", "MY_CONNECTION_STRING", "PGPASSWORD", "apiKey", "api-key", "DB_PASSWD", "AWS_ACCESS_KEY_ID",
		"SECRET_KEY_BASE", "SMTP_PASS", "TOKEN", "npm_config__authToken", "STRIPE_SECRET_KEY", "CREDENTIALS", "NEXT_AUTH_SECRET", "TOKEN_2", "SIGNING_KEY"} {
		if !SecretName(name) {
			t.Errorf("%s must count as a secret's name", name)
		}
	}
	for _, name := range []string{"HOME", "PATH", "KEY_COUNT", "MAX_TOKENS", "PASSWORD_MIN_LENGTH", "BYPASS_CACHE", "MONKEY", "KEYBOARD_LAYOUT", "SSH_AUTH_SOCK", "TOKEN_FILE", "PUBLIC_KEY", "", "_", "KEY", "PASS", "XAUTHORITY", "GPG_TTY"} {
		if SecretName(name) {
			t.Errorf("%s is no secret's name", name)
		}
	}
}

// T-RED-4: a stream masks what the whole text would, wherever it is cut.
func TestWriterAtEveryBorder(t *testing.T) {
	t.Parallel()
	r := New([]string{"zebra crossing/9"})
	text := "a " + ghp + " b\nzebra crossing/9\nDB_PASSWORD='two words 9'\n" + begin + "\nMIIB\nMIIC\n" + end + "\nlast line without end " + sk
	want, hits := r.String(text)
	for i := range len(text) + 1 {
		var b bytes.Buffer
		w := r.Writer(&b)
		write(t, w, text[:i], text[i:])
		if b.String() != want || w.Hits() != hits {
			t.Fatalf("cut at %d: %q (%d), want %q (%d)", i, b.String(), w.Hits(), want, hits)
		}
	}
}

func write(t testing.TB, w *Writer, pieces ...string) {
	t.Helper()
	for _, p := range pieces {
		if n, err := w.Write([]byte(p)); n != len(p) || err != nil {
			t.Fatalf("write: %d, %v", n, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// T-RED-4: one line of 50 MB is masked with bounded memory, secrets on its
// inner borders included.
func TestWriterBoundsALineWithoutEnd(t *testing.T) {
	t.Parallel()
	r := New(nil)
	rng := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for text.Len() < 1<<20 {
		text.WriteString(strings.Repeat("x ", rng.IntN(9000)))
		text.WriteString(ghp + " ")
	}
	var b bytes.Buffer
	w := r.Writer(&b)
	for rest := text.String(); rest != ""; {
		n := min(len(rest), 1+rng.IntN(5000))
		if _, err := w.Write([]byte(rest[:n])); err != nil {
			t.Fatal(err)
		}
		if len(w.buf) > maxLine+1 {
			t.Fatalf("the writer holds %d bytes", len(w.buf))
		}
		rest = rest[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "gh"+"p_") || w.Hits() != strings.Count(text.String(), ghp) {
		t.Fatalf("%d of %d masked", w.Hits(), strings.Count(text.String(), ghp))
	}
	if whole, n := r.String(text.String()); whole != b.String() || n != w.Hits() {
		t.Fatal("String and Writer differ on a line beyond the bound")
	}
}

// P-TERM-4: an unfinished key block stays masked to the end of what looks like one.
func TestUnfinishedKeyEndsWithItsLines(t *testing.T) {
	t.Parallel()
	got, _ := New(nil).String(begin + "\nMIIBfake\n\nplain words follow here.\n")
	if strings.Contains(got, "MIIB") || !strings.Contains(got, "plain words follow here.") {
		t.Fatalf("%q", got)
	}
}

func FuzzRedact(f *testing.F) {
	for _, row := range rows(f) {
		f.Add(row.Text, 3)
	}
	r := New([]string{"zebra crossing/9"})
	f.Fuzz(func(t *testing.T, text string, cut int) {
		want, hits := r.String(text)
		cut = max(0, min(cut, len(text)))
		var b bytes.Buffer
		w := r.Writer(&b)
		write(t, w, text[:cut], text[cut:])
		if b.String() != want || w.Hits() != hits {
			t.Fatalf("cut at %d: %q, want %q", cut, b.String(), want)
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	r := New([]string{"zebra crossing/9"})
	line := "2025-01-01T00:00:00Z info internal/server/handler.go:120 request id=9b2d1c1e-7f0a status=200 path=/api/v1/items took 12ms\n"
	text := strings.Repeat(line, 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.String(text)
	}
}

// Bytes that are no text do not shift what is masked.
func TestMasksAmongBrokenBytes(t *testing.T) {
	t.Parallel()
	got, n := New(nil).String("\xff\xfe İ X-Api-Key: fake000111222 \xff")
	if n != 1 || strings.Contains(got, "fake000111222") || !strings.HasPrefix(got, "\xff\xfe İ X-Api-Key: ") {
		t.Fatalf("%q", got)
	}
}
