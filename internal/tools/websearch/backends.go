package websearch

import (
	"encoding/json"
	"net/url"
	"strconv"

	"car/internal/engine/tool"
)

// backend is a service that searches.
type backend struct {
	name string
	// url is the service's own address, empty where everybody has another.
	url      string
	wantsKey bool
	ask      func(base *url.URL, in input, key string) (tool.WebRequest, error)
	read     func(body []byte) ([]result, error)
}

func backendOf(name string) (backend, bool) {
	switch name {
	case "searxng":
		return backend{name: name, ask: askSearxNG, read: readContents}, true
	case "brave":
		return backend{name: name, url: "https://api.search.brave.com/res/v1/web/search", wantsKey: true, ask: askBrave, read: readBrave}, true
	case "tavily":
		return backend{name: name, url: "https://api.tavily.com/search", wantsKey: true, ask: askTavily, read: readContents}, true
	}
	return backend{}, false
}

func askSearxNG(base *url.URL, in input, key string) (tool.WebRequest, error) {
	u := base.JoinPath("search")
	u.RawQuery = url.Values{"q": {in.Query}, "format": {"json"}}.Encode()
	r := tool.WebRequest{Method: "GET", URL: u.String(), Headers: map[string]string{"Accept": "application/json"}}
	if key != "" {
		r.Headers["Authorization"] = "Bearer " + key
	}
	return r, nil
}

func askBrave(base *url.URL, in input, key string) (tool.WebRequest, error) {
	u := *base
	u.RawQuery = url.Values{"q": {in.Query}, "count": {strconv.Itoa(in.Count)}}.Encode()
	return tool.WebRequest{Method: "GET", URL: u.String(),
		Headers: map[string]string{"Accept": "application/json", "X-Subscription-Token": key}}, nil
}

func askTavily(base *url.URL, in input, key string) (tool.WebRequest, error) {
	body, err := json.Marshal(map[string]any{"query": in.Query, "max_results": in.Count})
	if err != nil {
		return tool.WebRequest{}, err
	}
	return tool.WebRequest{Method: "POST", URL: base.String(), Body: body,
		Headers: map[string]string{"Content-Type": "application/json", "Authorization": "Bearer " + key}}, nil
}

// readContents reads the answers of SearxNG and Tavily, which look the same.
func readContents(body []byte) ([]result, error) {
	var answer struct {
		Results []struct {
			Title   string `json:"title"`
			URL     string `json:"url"`
			Content string `json:"content"`
		} `json:"results"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	var found []result
	for _, r := range answer.Results {
		found = append(found, result{r.Title, r.URL, r.Content})
	}
	return found, nil
}

func readBrave(body []byte) ([]result, error) {
	var answer struct {
		Web struct {
			Results []struct {
				Title       string `json:"title"`
				URL         string `json:"url"`
				Description string `json:"description"`
			} `json:"results"`
		} `json:"web"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	var found []result
	for _, r := range answer.Web.Results {
		found = append(found, result{r.Title, r.URL, r.Description})
	}
	return found, nil
}
