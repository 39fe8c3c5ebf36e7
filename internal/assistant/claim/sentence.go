package claim

import (
	"regexp"
	"strings"
)

var (
	fence  = regexp.MustCompile("(?s)```.*?(```|$)|~~~.*?(~~~|$)")
	bullet = regexp.MustCompile(`^\s*(?:[-*•+]|\d+[.)]|\[[xX]\]|[✓✔✅☑]+\x{FE0F}?)\s+`)
	// sentenceEnd does not split inside a path, a version or a number.
	sentenceEnd = regexp.MustCompile(`[.!?;:]+(?:\s+|$)`)
	emphasis    = regexp.MustCompile(`\*\*|__`)
)

// sentences returns the plain sentences of a text, without code blocks, quoted
// lines, tables and the marks of lists. Inline code stays, since paths stand in it.
func sentences(text string) []string {
	var all []string
	for line := range strings.Lines(fence.ReplaceAllString(text, "\n")) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, ">") || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "#") {
			continue
		}
		for bullet.MatchString(line) {
			line = bullet.ReplaceAllString(line, "")
		}
		if strings.HasPrefix(line, "[ ]") {
			continue
		}
		all = append(all, split(emphasis.ReplaceAllString(line, ""))...)
	}
	return all
}

func split(line string) []string {
	var parts []string
	for {
		at := sentenceEnd.FindStringIndex(line)
		if at == nil {
			break
		}
		parts = append(parts, line[:at[1]])
		line = line[at[1]:]
	}
	if line = strings.TrimSpace(line); line != "" {
		parts = append(parts, line)
	}
	return parts
}

// hedged finds what makes a sentence no plain report of something done: negation,
// condition, future, obligation, question, quotation, an earlier time.
var hedged = regexp.MustCompile(`(?i)\b(?:not|no|never|none|neither|nor|without|cannot|can't|fail(?:s|ed|ing|ure|ures)?|` +
	`if|when|once|unless|until|whether|would|could|might|may|maybe|perhaps|probably|likely|presumably|` +
	`will|shall|going to|about to|plan(?:s|ned)?|want(?:s|ed)?|need(?:s|ed)?|must|have to|has to|to be|let me|let's|next|` +
	`think|believe|guess|hope(?:fully)?|seems?|appears?|goal|aim|idea|should|ought|expect(?:s|ed)?|assum(?:e|es|ed|ing)|ensure|make sure|so that|before|after|previously|earlier|already|originally|` +
	`used to|last time|yesterday|other|others|some|most|few|only|except|but|however|although|though|unable|blocked|denied|refused|skipped|` +
	`try|tried|trying|attempt(?:s|ed)?|please|you|your|run|rerun|verify|check whether|see if|confirm|claims?|says?|said|reports?|according|upstream)\b|` +
	`\w+n['’]t\b|\w+['’]ll\b|\?|["“”«»]`)

// plain reports whether a sentence without the phrase of its claim says that
// something happened, and nothing that takes it back.
func plain(sentence, phrase string) bool {
	return !hedged.MatchString(strings.Replace(sentence, phrase, " ", 1))
}
