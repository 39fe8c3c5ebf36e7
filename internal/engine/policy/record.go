package policy

// Bounds of what is recorded of one action.
const (
	maxRecorded     = 64
	maxRecordedText = 160
)

// Record is what a log keeps of the places and programs of an action, as decoded
// JSON; nil when there are none. It is bounded; RecordedFacts reads it back.
func (j Judgement) Record() map[string]any {
	r := map[string]any{}
	list := func(key string, n int, at func(i int) any) {
		if n == 0 {
			return
		}
		all := make([]any, 0, min(n, maxRecorded))
		for i := range min(n, maxRecorded) {
			all = append(all, at(i))
		}
		r[key] = all
	}
	list("programs", len(j.Programs), func(i int) any { return j.Programs[i].record() })
	list("reads", len(j.Reads), func(i int) any { return j.Reads[i].record() })
	list("writes", len(j.Targets), func(i int) any { return clip(j.Targets[i]) })
	list("hosts", len(j.Hosts), func(i int) any { return clip(j.Hosts[i]) })
	if j.Network {
		r["network"] = true
	}
	// What was left out cannot be told any more.
	if j.Undecided || len(j.Programs) > maxRecorded || len(j.Reads) > maxRecorded || len(j.Targets) > maxRecorded {
		r["undecided"] = true
	}
	if len(r) == 0 {
		return nil
	}
	return r
}

func (p Program) record() map[string]any {
	words := make([]any, 0, min(len(p.Words), maxRecorded))
	for i := range min(len(p.Words), maxRecorded) {
		words = append(words, clip(p.Words[i]))
	}
	return map[string]any{"words": words, "class": p.Class}
}

func (r Read) record() map[string]any {
	m := map[string]any{"path": clip(r.Path)}
	if r.Deep {
		m["deep"] = true
	}
	if r.Glob != "" {
		m["glob"] = clip(r.Glob)
	}
	return m
}

func clip(s string) string {
	if len(s) > maxRecordedText {
		return s[:maxRecordedText]
	}
	return s
}

// RecordedFacts reads a Record back from a log. What is not there says nothing.
func RecordedFacts(data map[string]any) Judgement {
	var j Judgement
	each := func(key string, take func(v any)) {
		list, _ := data[key].([]any)
		for _, v := range list {
			take(v)
		}
	}
	each("programs", func(v any) {
		m, _ := v.(map[string]any)
		words, _ := m["words"].([]any)
		var p Program
		p.Class, _ = m["class"].(string)
		for _, w := range words {
			s, _ := w.(string)
			p.Words = append(p.Words, s)
		}
		j.Programs = append(j.Programs, p)
	})
	each("reads", func(v any) {
		m, _ := v.(map[string]any)
		var r Read
		r.Path, _ = m["path"].(string)
		r.Deep, _ = m["deep"].(bool)
		r.Glob, _ = m["glob"].(string)
		j.Reads = append(j.Reads, r)
	})
	text := func(into *[]string) func(any) {
		return func(v any) {
			s, _ := v.(string)
			*into = append(*into, s)
		}
	}
	each("writes", text(&j.Targets))
	each("hosts", text(&j.Hosts))
	j.Network, _ = data["network"].(bool)
	j.Undecided, _ = data["undecided"].(bool)
	return j
}
