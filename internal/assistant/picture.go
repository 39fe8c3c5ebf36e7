package assistant

import (
	"fmt"
	"net/url"
	"slices"

	"car/internal/assistant/llm"
)

var pictureTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// checkPictures refuses pictures that no model could take: too many, too big, of
// another kind than they say, or with an address that is none (A-SVC-6).
func checkPictures(pictures []llm.Image) error {
	if n := len(pictures); n > maxPictures {
		return fmt.Errorf("%d pictures are too many for one message: send at most %d", n, maxPictures)
	}
	for i, p := range pictures {
		if err := checkPicture(p); err != nil {
			return fmt.Errorf("picture %d: %w", i+1, err)
		}
	}
	return nil
}

func checkPicture(p llm.Image) error {
	if p.URL != "" {
		u, err := url.Parse(p.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(p.Data) > 0 {
			return fmt.Errorf("its address has to be an http or https URL, and nothing else may come with it")
		}
		return nil
	}
	switch {
	case len(p.Data) == 0:
		return fmt.Errorf("it has neither data nor an address")
	case len(p.Data) > pictureBytes:
		return fmt.Errorf("it has %d bytes and may have %d: make it smaller", len(p.Data), pictureBytes)
	case !slices.Contains(pictureTypes, p.MediaType):
		return fmt.Errorf("%q is not png, jpeg, gif or webp", p.MediaType)
	}
	switch is := llm.ImageType(p.Data); is {
	case p.MediaType:
	case "":
		return fmt.Errorf("its bytes are not those of a png, jpeg, gif or webp")
	default:
		return fmt.Errorf("it says %s and is %s", p.MediaType, is)
	}
	return nil
}

// blind is the end of a run whose message holds pictures that its model cannot see.
func (r *run) blind() Body {
	if len(r.input.Images) == 0 || !r.choices[0].NoVision {
		return nil
	}
	return Failure{Code: CodeNoVision, Error: fmt.Sprintf("%s cannot see pictures: leave them out, or choose another model with --model", r.choices[0].Model)}
}

// sightless is a request without pictures, each said in words instead: a fallback
// or a later choice may be a model that cannot see what the session holds.
func sightless(messages []llm.Message) []llm.Message {
	for i, m := range messages {
		parts := slices.Clone(m.Parts)
		for j, p := range parts {
			switch {
			case p.Kind == llm.PartImage:
				parts[j] = llm.TextPart("[a picture stands here, which this model cannot see]")
			case p.Result != nil && len(p.Result.Images) > 0:
				res := *p.Result
				res.Text += fmt.Sprintf("\n[%d picture(s) stand here, which this model cannot see]", len(res.Images))
				res.Images = nil
				parts[j].Result = &res
			}
		}
		messages[i].Parts = parts
	}
	return messages
}
