package webtext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"car/internal/tools/foreign"
)

// maxText is the most that a page becomes, in bytes.
const maxText = 512 << 10

// Page is an answer to turn into text.
type Page struct {
	// ContentType is the header's, empty if there was none.
	ContentType string
	Body        []byte
	URL         string
	// Raw leaves HTML and JSON as they came.
	Raw bool
}

// Text is what a page became.
type Text struct {
	Body string
	// Form says what Body is: "article" (the main part of a page), "page", "json",
	// "text", "binary" (a description, no content) or "empty".
	Form string
	// Cut says that Body is not all of the text.
	Cut bool
}

// Of turns a page into text. What cannot be converted is given as it came, cleaned.
func Of(p Page) Text {
	if len(p.Body) == 0 {
		return Text{Form: "empty"}
	}
	media := mediaOf(p)
	if !isText(media, p.Body) {
		return Text{Form: "binary", Body: fmt.Sprintf("[%s, %d bytes, not shown]", media, len(p.Body))}
	}
	decoded := decode(p.Body, p.ContentType, media)
	t := Text{Form: "text", Body: decoded}
	switch {
	case p.Raw:
	case isHTML(media):
		if body, form, err := markdown(decoded, p.URL); err == nil {
			t.Body, t.Form = body, form
		}
	case isJSON(media):
		if body, err := pretty(decoded); err == nil {
			t.Body, t.Form = body, "json"
		}
	}
	t.Body = foreign.Text(strings.ReplaceAll(t.Body, "\r\n", "\n"))
	if len(t.Body) > maxText {
		t.Body, t.Cut = cutAtRune(t.Body, maxText), true
	}
	return t
}

// mediaOf is the type of a body; a server's word counts unless it says nothing.
func mediaOf(p Page) string {
	media, _, err := mime.ParseMediaType(p.ContentType)
	if err != nil || media == "application/octet-stream" {
		media = guess(p.Body)
	}
	return media
}

// guess names the type of a body that nobody named.
func guess(body []byte) string {
	head := bytes.ToLower(bytes.TrimSpace(body[:min(len(body), 512)]))
	switch {
	case bytes.IndexByte(head, 0) >= 0:
		return "application/octet-stream"
	case bytes.HasPrefix(head, []byte("<!doctype html")), bytes.HasPrefix(head, []byte("<html")):
		return "text/html"
	case utf8.Valid(body):
		return "text/plain"
	}
	return "application/octet-stream"
}

func isHTML(media string) bool { return media == "text/html" || media == "application/xhtml+xml" }

func isJSON(media string) bool {
	return media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json")
}

// isText tells text from the rest. NUL settles it against the word of the server,
// except for UTF-16, which announces itself.
func isText(media string, body []byte) bool {
	head := body[:min(len(body), 8<<10)]
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return true
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	if strings.HasPrefix(media, "text/") || isJSON(media) || isHTML(media) || strings.HasSuffix(media, "+xml") {
		return true
	}
	switch media {
	case "application/xml", "application/javascript", "application/x-javascript", "application/ecmascript", "application/yaml",
		"application/x-yaml", "application/toml", "application/x-ndjson", "application/x-sh", "application/sql", "application/x-www-form-urlencoded":
		return true
	}
	return false
}

// decode finds the charset by byte order mark, header and meta, in this order, and
// answers UTF-8.
func decode(body []byte, contentType, media string) string {
	if !isHTML(media) && !strings.Contains(strings.ToLower(contentType), "charset") && utf8.Valid(body) {
		return strings.TrimPrefix(string(body), "\uFEFF")
	}
	r, err := charset.NewReader(bytes.NewReader(body), contentType)
	if err != nil {
		return string(body)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return string(body)
	}
	return strings.TrimPrefix(string(text), "\uFEFF")
}

func pretty(text string) (string, error) {
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(text), "", "  "); err != nil {
		return "", err
	}
	return out.String(), nil
}

func cutAtRune(s string, most int) string {
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// errNoText says that a page shows nothing.
var errNoText = errors.New("the page has no text")

func pageURL(raw string) *url.URL {
	u, err := url.Parse(raw)
	if err != nil {
		return nil
	}
	return u
}
