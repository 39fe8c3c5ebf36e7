// Package webtext turns what a web server sent into text for a model (T-WEB-4): the
// charset is found, HTML becomes Markdown, JSON is laid out, and what is no text is
// named by type and size. Everything that a terminal or a chat template could obey
// is taken out, as foreign does it for tools' own words.
//
// It is pure, imports foreign beside it and the libraries for HTML, and makes
// nothing before it is called. Start reading at webtext.go.
package webtext
