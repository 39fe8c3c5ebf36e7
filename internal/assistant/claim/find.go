package claim

import (
	"regexp"
	"strconv"
	"strings"
)

// Kind is what a claim is about.
type Kind uint8

// The kinds (A-CLAIM-3).
const (
	TestsPass Kind = iota + 1
	BuildSucceeds
	Committed
	Pushed
	FilesChanged
	CleanTree
	Deployed
	Sent
)

// String says what is claimed, in words a person reads.
func (k Kind) String() string {
	switch k {
	case TestsPass:
		return "tests pass"
	case BuildSucceeds:
		return "build succeeds"
	case Committed:
		return "changes committed"
	case Pushed:
		return "changes pushed"
	case FilesChanged:
		return "files changed"
	case CleanTree:
		return "working tree clean"
	case Deployed:
		return "deployed"
	case Sent:
		return "sent"
	default:
		return "unknown claim"
	}
}

// Claim is one plain sentence that says something was done.
type Claim struct {
	Kind Kind
	// Sentence is where it stands.
	Sentence string
	// Path is the file of a FilesChanged claim that names one.
	Path string
	// Count is how many files a FilesChanged claim without a path is about.
	Count int
}

// pattern finds one kind of claim in a sentence.
type pattern struct {
	kind Kind
	find *regexp.Regexp
}

// intransitive is what may follow "the tests pass" and "it builds", so that tests
// which pass an argument and code that builds a list are no claims.
var intransitive = regexp.MustCompile(`(?i)^\s*(?:$|[.!,;:)(—–]|(?:now|again|and|with|in|too|cleanly|successfully|locally|as|here|for)\b)`)

// ends reports whether what follows the phrase leaves it a claim.
func (p pattern) ends(rest string) bool {
	return p.kind != TestsPass && p.kind != BuildSucceeds || intransitive.MatchString(rest)
}

const number = `\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve`

var patterns = []pattern{
	{TestsPass, regexp.MustCompile(`(?i)\b(?:all|every|the|both|\d+)\s+(?:\S+\s+){0,3}?tests?\s+(?:now\s+|still\s+|all\s+)?(?:pass(?:es|ed)?|(?:are|is)\s+(?:now\s+)?(?:passing|green))\b`)},
	{TestsPass, regexp.MustCompile(`(?i)^tests?\s+(?:now\s+|still\s+|all\s+)?(?:pass(?:es|ed)?|(?:are|is)\s+(?:now\s+)?(?:passing|green))\b`)},
	{TestsPass, regexp.MustCompile(`(?i)\btest\s+suite\s+(?:now\s+)?(?:pass(?:es|ed)|is\s+(?:now\s+)?(?:passing|green))\b`)},
	{TestsPass, regexp.MustCompile(`(?i)\b(?:\d+\s+(?:tests?\s+)?passed|everything\s+passe[sd]|suite\s+is\s+green)\b`)},
	{BuildSucceeds, regexp.MustCompile(`(?i)\b(?:build|project|code|it|everything)\s+(?:now\s+)?(?:builds|compiles)\b(?:\s+(?:cleanly|successfully|fine|without\s+(?:errors|warnings)))?`)},
	{BuildSucceeds, regexp.MustCompile(`(?i)\b(?:build|compilation|type\s?check|lint)\s+(?:now\s+)?(?:succeeds|succeeded|passes|passed|is\s+(?:now\s+)?(?:green|clean|passing))\b`)},
	{BuildSucceeds, regexp.MustCompile(`(?i)\bno\s+(?:type|lint|vet|compile|compilation|compiler|build)\s+errors\b`)},
	{Committed, regexp.MustCompile(`(?i)\b(?:i(?:'ve|’ve|\s+have)?\s+(?:also\s+)?committed|(?:changes?|work|fix|everything|it)\s+(?:is|are|was|were|has\s+been|have\s+been)\s+(?:now\s+)?committed|^committed)\b`)},
	{Pushed, regexp.MustCompile(`(?i)\b(?:i(?:'ve|’ve|\s+have)?\s+(?:also\s+)?pushed|(?:changes?|work|fix|branch|commits?|everything|it)\s+(?:is|are|was|were|has\s+been|have\s+been)\s+(?:now\s+)?pushed|^pushed)\s+(?:the\b|to\b|it\b|them\b|everything\b|$)`)},
	{CleanTree, regexp.MustCompile(`(?i)\b(?:(?:working\s+|work\s*)?tree|working\s+directory|repo(?:sitory)?|checkout)\s+is\s+(?:now\s+)?clean\b`)},
	{Deployed, regexp.MustCompile(`(?i)(?:\bi(?:'ve|’ve|\s+have)?\s+(?:also\s+)?deployed|\b(?:it|app|service|site|release|version|fix|build|change)\s+(?:is|was|has\s+been)\s+(?:now\s+)?deployed|^deployed)\s+(?:the\b|to\b|it\b|version\b|v\d|$|[.!,])`)},
	{Deployed, regexp.MustCompile(`(?i)\b(?:it|app|service|site|release|version\s+\S+|fix)\s+is\s+(?:now\s+)?live\s*(?:in\s+production\b|on\s+production\b|[.!,]|$)`)},
	{Sent, regexp.MustCompile(`(?i)(?:\bi(?:'ve|’ve|\s+have)?\s+(?:also\s+)?|^)(?:opened|created|filed|submitted)\s+(?:a\s+|an\s+|the\s+)?(?:new\s+)?(?:draft\s+)?(?:pr|pull\s+request|merge\s+request|issue|ticket)\b(?:\s*(?:#?\d+\b|for\b|with\b|on\b|against\b|[.!,]|$))`)},
	{Sent, regexp.MustCompile(`(?i)(?:\bi(?:'ve|’ve|\s+have)?\s+(?:also\s+)?|^)(?:sent|posted|published)\s+(?:the|a|an)\s+(?:\S+\s+){0,2}?(?:message|e-?mail|comment|notification|announcement|review|package|release)\b`)},
}

// extensions tell a file's name from a qualified identifier such as fmt.Errorf.
const extensions = `go|mod|sum|rs|py|pyi|rb|php|java|kt|scala|swift|c|h|cc|cpp|hpp|cs|js|jsx|ts|tsx|mjs|cjs|vue|svelte|html|css|scss|json|jsonl|toml|ya?ml|xml|sql|` +
	`sh|bash|zsh|fish|ps1|md|rst|txt|adoc|csv|ini|cfg|conf|env|lock|proto|graphql|tf|ex|exs|erl|hs|ml|lua|pl|r|dart|zig|nim|gradle|cmake|mk|svg|tmpl`

// fileVerb is a verb that says that a file is different now.
const fileVerb = `created|wrote|updated|edited|modified|changed|rewrote|fixed|deleted|removed|added`

var (
	namedFile = regexp.MustCompile("(?i)(?:^|\\bi(?:'ve|’ve|\\s+have)?\\s+(?:also\\s+)?|\\band\\s+)(?:" + fileVerb + ")\\s+(?:the\\s+|a\\s+|new\\s+)*(?:file\\s+)?(?:`([^`\\s]+)`|([\\w./-]+\\.[a-z]\\w{0,5})\\b)")
	counted   = regexp.MustCompile(`(?i)\b(?:all\s+)?(` + number + `)(?:\s+of\s+them)?(?:\s+(?:new\s+)?files?)?(?:\s+(?:were|are|have\s+been|now))?\s+(?:written|created|saved|updated|edited)\b`)
	wroteN    = regexp.MustCompile(`(?i)^(?:i(?:'ve|’ve|\s+have)?\s+)?(?:wrote|created|saved|updated|edited)\s+(?:all\s+)?(` + number + `)\s+(?:new\s+)?files\b`)
	pathLike  = regexp.MustCompile(`^(?:[\w@.+-]+/)*(?:[\w@.+-]+\.(?:` + extensions + `)|Makefile|Dockerfile|LICENSE|Justfile)$`)
)

// Find returns the claims of a closing text, at most one of a kind for each
// sentence and file.
func Find(text string) []Claim {
	var claims []Claim
	for _, s := range sentences(text) {
		found := map[Kind]bool{}
		for _, p := range patterns {
			if at := p.find.FindStringIndex(s); at != nil && !found[p.kind] && p.ends(s[at[1]:]) && plain(s, s[at[0]:at[1]]) {
				found[p.kind] = true
				claims = append(claims, Claim{Kind: p.kind, Sentence: strings.TrimSpace(s)})
			}
		}
		claims = append(claims, filesIn(s)...)
	}
	return claims
}

// filesIn finds what a sentence says of files.
func filesIn(s string) []Claim {
	var claims []Claim
	for _, m := range namedFile.FindAllStringSubmatch(s, -1) {
		if name := strings.TrimPrefix(m[1]+m[2], "./"); pathLike.MatchString(name) && plain(s, m[0]) {
			claims = append(claims, Claim{Kind: FilesChanged, Sentence: strings.TrimSpace(s), Path: name})
		}
	}
	if len(claims) > 0 {
		return claims
	}
	for _, find := range []*regexp.Regexp{counted, wroteN} {
		if m := find.FindStringSubmatch(s); m != nil && plain(s, m[0]) {
			return []Claim{{Kind: FilesChanged, Sentence: strings.TrimSpace(s), Count: numberOf(m[1])}}
		}
	}
	return nil
}

var numberWords = strings.Split(number, "|")[1:]

func numberOf(word string) int {
	for i, w := range numberWords {
		if strings.EqualFold(w, word) {
			return i + 1
		}
	}
	n, err := strconv.Atoi(word)
	if err != nil {
		return 0
	}
	return n
}
