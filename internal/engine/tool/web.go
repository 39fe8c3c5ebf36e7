package tool

import "context"

// Web carries requests over HTTP to the hosts that a call declared. It judges every
// address that it dials and every redirect that it follows (T-WEB-2), and bounds
// what comes back. Its errors are *Fault whose text can go to the model. Safe for
// concurrent use.
type Web interface {
	Fetch(ctx context.Context, r WebRequest) (WebResponse, error)
}

// WebRequest is one request. It sends no cookies and follows at most five redirects.
type WebRequest struct {
	Method string
	URL    string
	// Headers are sent to the origin of URL and to no other (T-WEB-3).
	Headers map[string]string
	Body    []byte
}

// WebResponse is the answer of the last server, whatever its status.
type WebResponse struct {
	Status int
	// FinalURL is the address that answered, after redirects.
	FinalURL string
	// Headers are by canonical name.
	Headers map[string][]string
	// Body is unpacked, at most 2 MiB; Truncated says that there was more.
	Body      []byte
	Truncated bool
}

// Search is where web_search asks (T-WEB-6).
type Search struct {
	// Backend is "searxng", "brave" or "tavily".
	Backend string
	// URL is the address of the service; empty is the backend's own.
	URL string
	// Key is the secret that the service wants; empty sends none.
	Key string
}
