package redact

import (
	"regexp"
	"strings"
)

// keyShapes are the prefixes by which providers mark their keys, one a line:
// prefix, the characters that follow (w word, h lower-case hex, u upper-case
// letters and digits, d word and dash, j word, dash and dot), how many at least.
const keyShapes = `
ghp_ w 20
gho_ w 20
ghu_ w 20
ghs_ w 20
ghr_ w 20
github_pat_ w 20
glpat- d 16
glptt- d 16
gldt- d 16
glrt- d 16
glcbt- d 16
glft- d 16
glsoat- d 16
gloas- d 16
sk-ant- d 20
sk-proj- d 20
sk-svcacct- d 20
sk-admin- d 20
sk-or-v1- d 20
sk- d 20
sk_live_ w 16
sk_test_ w 16
rk_live_ w 16
rk_test_ w 16
whsec_ w 16
xapp- d 20
AKIA u 16
ASIA u 16
ABIA u 16
ACCA u 16
AIza d 30
ya29. j 20
GOCSPX- d 20
npm_ w 30
pypi-AgE d 40
hf_ w 28
SG. j 40
dop_v1_ h 40
doo_v1_ h 40
dor_v1_ h 40
shpat_ h 32
shpss_ h 32
shpca_ h 32
shppa_ h 32
sq0atp- d 20
sq0csp- d 30
lin_api_ w 30
ntn_ w 40
dapi h 32
hvs. d 20
hvb. d 20
AGE-SECRET-KEY-1 u 50
glsa_ w 32
glc_eyJ d 30
PMAK- d 40
rubygems_ h 40
NRAK- u 20
sntrys_ d 30
sntryu_ h 40
pul- h 40
gsk_ w 40
xai- w 40
pplx- w 40
r8_ w 30
CFPAT- d 40
fo1_ d 30
sbp_ h 40
figd_ d 30
dp.pt. w 30
dp.st. j 30
dckr_pat_ d 20
ATATT3 d 50
ATBB w 28
oy2 w 43
secret_ w 40
tskey- d 20
EAACEdEose0cBA w 20
`

type keyShape struct {
	prefix string
	class  byte
	least  int
}

// shapeSet is the compiled form of the shapes.
type shapeSet struct {
	// keys are grouped by their first byte.
	keys   [256][]keyShape
	others []pattern
}

// pattern is a shape with a grammar; only lines that hold trigger are matched.
type pattern struct {
	trigger string
	re      *regexp.Regexp
}

func newShapeSet() *shapeSet {
	s := &shapeSet{}
	for row := range strings.SplitSeq(strings.TrimSpace(keyShapes), "\n") {
		f := strings.Fields(row)
		least := 0
		for _, ch := range f[2] {
			least = least*10 + int(ch-'0')
		}
		s.keys[f[0][0]] = append(s.keys[f[0][0]], keyShape{f[0], f[1][0], least})
	}
	for _, p := range [][2]string{
		{"eyJ", `\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{2,}\.[A-Za-z0-9_-]{4,}`},
		{"xox", `\bxox[abepsr]-[0-9A-Za-z-]*[0-9][0-9A-Za-z-]{8,}`},
		{"hooks.slack", `hooks\.slack\.com/services/(T[A-Z0-9]+/B[A-Z0-9]+/[A-Za-z0-9]{16,})`},
		{"/api/webhooks/", `discord(?:app)?\.com/api/webhooks/([0-9]+/[A-Za-z0-9_-]{20,})`},
		{":AA", `\b[0-9]{7,12}:(AA[A-Za-z0-9_-]{30,})`},
		{"-us", `\b[0-9a-f]{32}-us[0-9]{1,2}\b`},
		{"SK", `\bSK[0-9a-f]{32}\b`},
		{"key-", `\bkey-[0-9a-f]{32}\b`},
		{".atlasv1.", `\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{40,}`},
		{"FwoG", `\bFwoG[A-Za-z0-9+/=]{60,}`},
		{"IQoJ", `\bIQoJ[A-Za-z0-9+/=]{60,}`},
		{"1//0", `\b1//0[A-Za-z0-9_-]{30,}`},
	} {
		s.others = append(s.others, pattern{p[0], regexp.MustCompile(p[1])})
	}
	return s
}

func (s *shapeSet) find(spans []span, line string) []span {
	for i := 0; i < len(line); i++ {
		if i > 0 && wordByte(line[i-1]) {
			continue
		}
		for _, k := range s.keys[line[i]] {
			if to := k.match(line[i:]); to > 0 {
				spans = append(spans, span{i, i + to})
			}
		}
	}
	for _, p := range s.others {
		if !strings.Contains(line, p.trigger) {
			continue
		}
		for _, m := range p.re.FindAllStringSubmatchIndex(line, -1) {
			if len(m) > 2 && m[2] >= 0 {
				spans = append(spans, span{m[2], m[3]})
				continue
			}
			spans = append(spans, span{m[0], m[1]})
		}
	}
	return spans
}

// match returns how long a key at the start of s is, 0 when there is none.
func (k keyShape) match(s string) int {
	if !strings.HasPrefix(s, k.prefix) {
		return 0
	}
	to := len(k.prefix)
	for to < len(s) && inClass(k.class, s[to]) {
		to++
	}
	if to-len(k.prefix) < k.least || k.class != 'h' && k.class != 'u' && !mixed(s[:to]) {
		return 0
	}
	return to
}

func wordByte(b byte) bool { return upper(b) || lower(b) || digit(b) || b == '_' }

func inClass(class, b byte) bool {
	switch class {
	case 'h':
		return digit(b) || b >= 'a' && b <= 'f'
	case 'u':
		return upper(b) || digit(b)
	case 'd':
		return wordByte(b) || b == '-'
	case 'j':
		return wordByte(b) || b == '-' || b == '.'
	}
	return wordByte(b)
}

// mixed reports text with a digit or an upper-case letter after its prefix, so
// that long lower-case names (sk-some-long-file-name) stay.
func mixed(s string) bool {
	for i := 0; i < len(s); i++ {
		if digit(s[i]) || upper(s[i]) {
			return true
		}
	}
	return false
}
