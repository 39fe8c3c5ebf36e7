package websearch

import (
	"errors"
	"strings"
	"testing"
	"time"

	"car/internal/engine/tool"
	"car/internal/tools/tooltest"
)

type answers = map[string]func(tool.WebRequest) (tool.WebResponse, error)

func says(status int, body string, seen *tool.WebRequest) func(tool.WebRequest) (tool.WebResponse, error) {
	return func(r tool.WebRequest) (tool.WebResponse, error) {
		*seen = r
		return tool.WebResponse{Status: status, FinalURL: r.URL, Body: []byte(body)}, nil
	}
}

const contents = `{"results":[{"title":"One\u001b[31m","url":"https://a.example/","content":"first <|x"},{"title":"Again","url":"https://a.example/","content":"same"},
{"title":"Two","url":"https://b.example/","content":"second"},{"title":"Three","url":"https://c.example/","content":""}]}`

// T-WEB-6: every service is asked as it wants and read into the same results, each address once.
func TestBackends(t *testing.T) {
	t.Parallel()
	brave := `{"web":` + strings.ReplaceAll(contents, `"content"`, `"description"`) + `}`
	for _, c := range []struct {
		search              tool.Search
		url, body, key, ask string
	}{
		{tool.Search{Backend: "searxng", URL: "https://s.example/base/"}, "https://s.example/base/search?format=json&q=go+maps", contents, "", ""},
		{tool.Search{Backend: "brave", Key: "k-1"}, "https://api.search.brave.com/res/v1/web/search?count=2&q=go+maps", brave, "X-Subscription-Token=k-1", ""},
		{tool.Search{Backend: "tavily", Key: "k-2"}, "https://api.tavily.com/search", contents, "Authorization=Bearer k-2", `{"max_results":2,"query":"go maps"}`},
	} {
		var seen tool.WebRequest
		house := tooltest.Open(t, time.Now)
		house.Web = &tooltest.Web{Answers: answers{c.url: says(200, c.body, &seen)}}
		out := house.Must(t, New(tool.Bindings{Network: true, Search: &c.search}), map[string]any{"query": " go maps ", "count": 2.0})
		results, _ := out["results"].([]any)
		if len(results) != 2 || out["total"] != 4.0 {
			t.Fatalf("%s: %v", c.search.Backend, out)
		}
		first, _ := results[0].(map[string]any)
		if first["title"] != "One[31m" || first["snippet"] != `first <\|x` || first["url"] != "https://a.example/" {
			t.Errorf("%s: %v", c.search.Backend, first)
		}
		if name, value, _ := strings.Cut(c.key, "="); seen.Headers[name] != value || string(seen.Body) != c.ask {
			t.Errorf("%s: %v %s", c.search.Backend, seen.Headers, seen.Body)
		}
	}
}

// T-WEB-6, T-SET-2: without a service, its key or a network there is no tool.
func TestNotBound(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]tool.Bindings{
		"nothing":    {Network: true},
		"no network": {Search: &tool.Search{Backend: "searxng", URL: "https://s.example"}},
		"no key":     {Network: true, Search: &tool.Search{Backend: "brave"}},
		"no address": {Network: true, Search: &tool.Search{Backend: "searxng"}},
		"none":       {Network: true, Search: &tool.Search{Backend: "none"}},
	} {
		if New(b) != nil {
			t.Errorf("%s: bound", name)
		}
	}
}

// T-WEB-6: a refusal says what a person can do; 403 of SearxNG means its JSON is off.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		search tool.Search
		url    string
		status int
		body   string
		words  string
	}{
		{tool.Search{Backend: "searxng", URL: "https://s.example"}, "https://s.example/search?format=json&q=x", 403, "", "search.formats"},
		{tool.Search{Backend: "searxng", URL: "https://s.example"}, "https://s.example/search?format=json&q=x", 200, "<html>", "no results that can be read"},
		{tool.Search{Backend: "tavily", Key: "k"}, "https://api.tavily.com/search", 401, "", "tools.search.key_env"},
		{tool.Search{Backend: "tavily", Key: "k"}, "https://api.tavily.com/search", 429, "", "wait"},
		{tool.Search{Backend: "tavily", Key: "k"}, "https://api.tavily.com/search", 500, "", "answered 500"},
	} {
		var seen tool.WebRequest
		house := tooltest.Open(t, time.Now)
		house.Web = &tooltest.Web{Answers: answers{c.url: says(c.status, c.body, &seen)}}
		_, err := house.Run(t.Context(), New(tool.Bindings{Network: true, Search: &c.search}), map[string]any{"query": "x"})
		var f *tool.Fault
		if !errors.As(err, &f) || !strings.Contains(f.Text, c.words) {
			t.Errorf("%d: got %v", c.status, err)
		}
	}
}

// T-SET-1: the tool keeps the suite.
func TestSuite(t *testing.T) {
	t.Parallel()
	var seen tool.WebRequest
	house := tooltest.Open(t, time.Now)
	house.Web = &tooltest.Web{Slow: "https://s.example/search?format=json&q=slow",
		Answers: answers{"https://s.example/search?format=json&q=x": says(200, contents, &seen)}}
	tooltest.Suite(t, tooltest.Case{
		Tool: New(tool.Bindings{Network: true, Search: &tool.Search{Backend: "searxng", URL: "https://s.example"}}), House: house,
		Good: []map[string]any{{"query": "x"}, {"query": "x", "count": 10.0}},
		Bad:  []map[string]any{{}, {"query": ""}, {"query": "x", "count": 11.0}, {"query": strings.Repeat("x", 401)}},
		Slow: map[string]any{"query": "slow"},
	})
}
