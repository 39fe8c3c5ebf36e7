package assistant

import (
	"strings"
	"testing"

	"car/internal/assistant/llm"
)

var png = []byte("\x89PNG\r\n\x1a\n0000")

// A-SVC-6: pictures come with the words, are stored with them and stay in every later
// request, also after a resume; what no model could take is refused at once.
func TestPicturesArePartOfTheMessage(t *testing.T) {
	t.Parallel()
	h := newHouse(t, says("a cat"), says("still a cat"))
	c, f := h.start()
	in := Input{Text: "what is this", Images: []llm.Image{{MediaType: "image/png", Data: png}, {URL: "https://example.com/cat.png", Detail: "low"}}}
	if err := c.Send(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	mustEnd[Done](t, f.end())
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	h.opts.Resume = "s1"
	mustEnd[Done](t, h.say(Input{Text: "sure?"}))
	for i, req := range h.model.requests() {
		var seen []*llm.Image
		for _, p := range req.Messages[0].Parts {
			if p.Kind == llm.PartImage {
				seen = append(seen, p.Image)
			}
		}
		if len(seen) != 2 || string(seen[0].Data) != string(png) || seen[1].Detail != "low" {
			t.Errorf("request %d holds %+v", i+1, seen)
		}
	}
	for name, images := range map[string][]llm.Image{
		"is image/png":      {{MediaType: "image/jpeg", Data: png}},
		"not png, jpeg":     {{MediaType: "image/tiff", Data: png}},
		"make it smaller":   {{MediaType: "image/png", Data: append(png, make([]byte, 5<<20)...)}},
		"are too many":      make([]llm.Image, 21),
		"neither data":      {{MediaType: "image/png"}},
		"http or https":     {{URL: "file:///etc/passwd"}},
		"nothing else may":  {{URL: "https://example.com/x.png", Data: png}},
		"its bytes are not": {{MediaType: "image/png", Data: []byte("hello")}},
	} {
		if err := (Input{Text: "look", Images: images}).check(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A-GOAL-12: a goal refuses pictures.
func TestAGoalTakesNoPictures(t *testing.T) {
	t.Parallel()
	err := Input{Text: "x", Goal: &Goal{Check: "true"}, Images: []llm.Image{{MediaType: "image/png", Data: png}}}.check()
	if err == nil || !strings.Contains(err.Error(), "takes no pictures") {
		t.Errorf("it says %v", err)
	}
}

// A-SVC-6: a model that cannot see refuses a message with pictures before any
// request, and is told in words of those that stand in the session already.
func TestAModelThatCannotSee(t *testing.T) {
	t.Parallel()
	h := newHouse(t, says("a cat"), says("I cannot see it"))
	c, f := h.start()
	in := Input{Text: "what is this", Images: []llm.Image{{MediaType: "image/png", Data: png}}}
	send := func(in Input) []Event {
		t.Helper()
		if err := c.Send(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		return f.end()
	}
	mustEnd[Done](t, send(in))
	h.config.Models.(menu).choices[0].NoVision = true
	mustEnd[Done](t, send(Input{Text: "again"}))
	if text := textOf(h.model.requests()[1]); !strings.Contains(text, "a picture stands here") {
		t.Errorf("the model was told\n%s", text)
	}
	if end := mustEnd[Failure](t, send(in)); end.Code != CodeNoVision || len(h.model.requests()) != 2 {
		t.Errorf("%d requests, ended with %+v", len(h.model.requests()), end)
	}
}
