package webtext

import (
	"bytes"
	"strings"

	readability "codeberg.org/readeck/go-readability/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
)

// longPage is how much Markdown a page may have before only its article is shown.
const longPage = 12 << 10

// markdown is the text of a page, or of its article where the page is long and has one.
func markdown(text, address string) (body, form string, err error) {
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return "", "", err
	}
	dropUnseen(doc)
	title := titleOf(doc)
	page, err := convert(doc, address)
	if err != nil {
		return "", "", err
	}
	if strings.TrimSpace(page) == "" {
		return "", "", errNoText
	}
	if len(page) > longPage {
		if article := articleOf(doc, address); len(article) > len(page)/4 {
			return titled(title, article), "article", nil
		}
	}
	return titled(title, page), "page", nil
}

func titled(title, body string) string {
	if title == "" || strings.HasPrefix(body, "# "+title) {
		return body
	}
	return "# " + title + "\n\n" + body
}

// articleOf is the main part of a page as Markdown; empty is none.
func articleOf(doc *html.Node, address string) string {
	parser := readability.NewParser()
	article, err := parser.ParseDocument(doc, pageURL(address))
	if err != nil || article.Node == nil {
		return ""
	}
	body, err := convert(article.Node, address)
	if err != nil {
		return ""
	}
	return body
}

// convert makes Markdown. A converter is made for each page: it is cheap, and a
// shared one would be built before anybody asks.
func convert(n *html.Node, address string) (string, error) {
	c := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()))
	out, err := c.ConvertNode(n, converter.WithDomain(address))
	return string(bytes.TrimSpace(out)), err
}

func titleOf(doc *html.Node) string {
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == "title" && n.FirstChild != nil {
			return strings.Join(strings.Fields(n.FirstChild.Data), " ")
		}
	}
	return ""
}

// dropUnseen takes out what a reader of the page does not see: that is where words
// are hidden that are meant for a model alone.
func dropUnseen(doc *html.Node) {
	var unseen []*html.Node
	for n := range doc.Descendants() {
		if n.Type == html.CommentNode || n.Type == html.ElementNode && isUnseen(n) {
			unseen = append(unseen, n)
		}
	}
	for _, n := range unseen {
		if n.Parent != nil {
			n.Parent.RemoveChild(n)
		}
	}
}

func isUnseen(n *html.Node) bool {
	switch n.Data {
	case "script", "style", "noscript", "template", "iframe", "object", "embed", "svg", "canvas":
		return true
	}
	for _, a := range n.Attr {
		value := strings.ToLower(strings.Join(strings.Fields(a.Val), ""))
		switch a.Key {
		case "hidden":
			return true
		case "aria-hidden":
			return value == "true"
		case "type":
			return n.Data == "input" && value == "hidden"
		case "style":
			for _, how := range []string{"display:none", "visibility:hidden", "opacity:0;", "font-size:0"} {
				if strings.Contains(value+";", how) {
					return true
				}
			}
		}
	}
	return false
}
