package redact

import (
	"math"
	"strings"
)

// random masks runs of at least 40 characters that look like nothing but a key:
// letters of both cases and digits, spread evenly. Digests, checksums, public
// keys, pictures, identifiers and encoded blocks are let be.
func random(st *state, spans []span, line string) []span {
	block := encodedBlock(line)
	inBlock := block && (st.block || len(strings.TrimSpace(line)) == 64 || len(strings.TrimSpace(line)) == 76)
	st.block = inBlock
	if inBlock || len(line) < 40 {
		return spans
	}
	for i := 0; i < len(line); {
		if !runByte(line[i]) {
			i++
			continue
		}
		j := i
		for j < len(line) && runByte(line[j]) {
			j++
		}
		if j-i >= 40 && keyLike(line[i:j]) && !explained(line, i, j) {
			spans = append(spans, span{i, j})
		}
		i = j
	}
	return spans
}

func runByte(b byte) bool { return wordByte(b) || b == '-' || b == '+' || b == '/' || b == '=' }

// encodedBlock reports a line that is nothing but base64, as certificates and
// attachments have many.
func encodedBlock(line string) bool {
	body := strings.TrimSpace(line)
	if body == "" {
		return false
	}
	for i := 0; i < len(body); i++ {
		if ch := body[i]; !(wordByte(ch) && ch != '_') && ch != '+' && ch != '/' && ch != '=' {
			return false
		}
	}
	return true
}

func keyLike(s string) bool {
	var up, low, num, other int
	var count [256]int
	for i := 0; i < len(s); i++ {
		count[s[i]]++
		switch {
		case upper(s[i]):
			up++
		case lower(s[i]):
			low++
		case digit(s[i]):
			num++
		default:
			other++
		}
	}
	if up < 4 || low < 4 || num < 3 || other*6 > len(s) {
		return false
	}
	bits := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return bits >= 4.5
}

// explained reports a run that its surroundings say is no secret.
func explained(line string, from, to int) bool {
	run := line[from:to]
	before := strings.ToLower(line[max(0, from-40):from])
	switch {
	case strings.HasPrefix(run, "MII"), strings.HasPrefix(run, "AAAA"), strings.HasPrefix(run, "sha1-"), strings.HasPrefix(run, "sha256-"), strings.HasPrefix(run, "sha384-"), strings.HasPrefix(run, "sha512-"):
		return true
	case strings.HasSuffix(before, "/") || strings.HasPrefix(run, "/") || strings.Count(run, "/") > len(run)/16+1 && !strings.Contains(run, "="):
		return true
	}
	// What files of well-known kinds begin with, encoded.
	for _, magic := range []string{"iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "PHN2Zy", "JVBERi", "UEsDB", "H4sI", "AGFzb", "d09GM", "d09GR", "T1RUT", "AAEAAA", "eyJ2ZXJzaW9uIjo", "PD94bWw"} {
		if strings.HasPrefix(run, magic) {
			return true
		}
	}
	for _, mark := range []string{"base64,", "sha1:", "sha256:", "sha384:", "sha512:", "sha256-", "sha512-", "h1:", "md5:", "integrity", "checksum", "digest", "fingerprint", "ssh-rsa ", "ssh-ed25519 ", "public"} {
		if strings.Contains(before, mark) {
			return true
		}
	}
	return false
}
