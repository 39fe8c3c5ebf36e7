package redact

import "strings"

// options masks secrets on command lines: --api-key VALUE, mysql -pVALUE,
// sshpass -p VALUE, curl -u user:VALUE.
func options(spans []span, line string) []span {
	for at := 0; ; {
		i := strings.Index(line[at:], "--")
		if i < 0 {
			break
		}
		from := at + i + 2
		end := from
		for end < len(line) && (wordByte(line[end]) || line[end] == '-') {
			end++
		}
		at = max(end, from)
		if end == from || end >= len(line) || line[end] != ' ' || !SecretName(line[from:end]) {
			continue
		}
		v := valueAfter(line, end, false)
		v.name, v.sep = line[from:end], mark{equals: true}
		if !strings.HasPrefix(v.text, "-") && v.secret() {
			spans = append(spans, span{v.from, v.to})
		}
	}
	fields := wordSpans(line)
	for i, f := range fields {
		word := line[f.from:f.to]
		switch {
		case (word == "mysql" || word == "mysqldump" || word == "mysqladmin" || word == "mariadb" || word == "mysqlimport") && i+1 < len(fields):
			spans = attached(spans, line, fields[i+1:])
		case word == "sshpass" && i+2 < len(fields):
			spans = sshpass(spans, line, fields[i+1], fields[i+2])
		case (word == "-u" || word == "--user") && i+1 < len(fields) && strings.Contains(line[:f.from], "curl"):
			spans = userPassword(spans, line, fields[i+1])
		}
	}
	return spans
}

func wordSpans(line string) []span {
	if !strings.Contains(line, "mysql") && !strings.Contains(line, "mariadb") && !strings.Contains(line, "sshpass") && !strings.Contains(line, "curl") {
		return nil
	}
	var out []span
	for i := 0; i < len(line); {
		if line[i] == ' ' || line[i] == '\t' {
			i++
			continue
		}
		j := i
		for j < len(line) && line[j] != ' ' && line[j] != '\t' {
			j++
		}
		out = append(out, span{i, j})
		i = j
	}
	return out
}

func attached(spans []span, line string, fields []span) []span {
	for _, f := range fields {
		word := line[f.from:f.to]
		if word == "|" || word == ";" || word == "&&" {
			return spans
		}
		if strings.HasPrefix(word, "-p") && len(word) > 3 && !placeholder(word[2:]) {
			spans = append(spans, span{f.from + 2, f.to})
		}
	}
	return spans
}

func sshpass(spans []span, line string, flag, value span) []span {
	word := line[flag.from:flag.to]
	switch {
	case word == "-p":
		return append(spans, value)
	case strings.HasPrefix(word, "-p"):
		return append(spans, span{flag.from + 2, flag.to})
	}
	return spans
}

func userPassword(spans []span, line string, f span) []span {
	word := strings.Trim(line[f.from:f.to], `"'`)
	_, password, ok := strings.Cut(word, ":")
	if !ok || len(password) < 4 || placeholder(password) {
		return spans
	}
	i := f.from + strings.IndexByte(line[f.from:f.to], ':') + 1
	return append(spans, span{i, i + len(password)})
}
