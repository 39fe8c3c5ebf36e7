package dispatch

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"car/internal/engine/tool"
)

// fetcher reaches the hosts of a ticket and no other. Where redirects lead is judged
// by the web behind it.
type fetcher struct {
	web   tool.Web
	hosts []string
}

// Fetch refuses a host that the call did not declare.
func (f *fetcher) Fetch(ctx context.Context, r tool.WebRequest) (tool.WebResponse, error) {
	u, err := url.Parse(r.URL)
	if err != nil {
		return tool.WebResponse{}, &tool.Fault{Kind: tool.BadArgs, Text: "that is no URL; write https://host/path"}
	}
	host := strings.ToLower(u.Hostname())
	if !slices.ContainsFunc(f.hosts, func(h string) bool { return strings.ToLower(h) == host }) {
		return tool.WebResponse{}, &tool.Fault{Kind: tool.Denied, Text: fmt.Sprintf("denied by policy: the call did not declare host %q", host)}
	}
	return f.web.Fetch(ctx, r)
}
