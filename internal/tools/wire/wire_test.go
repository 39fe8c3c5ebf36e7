package wire

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type in struct {
	Path  string   `json:"path"`
	Limit *int     `json:"limit"`
	Kinds []string `json:"kinds"`
	All   bool     `json:"all"`
}

// T-SET-8: what is wrong with an argument is named.
func TestInNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		params map[string]any
		want   string
	}{
		{map[string]any{"path": 1.0}, "'path' must be a string, not number"},
		{map[string]any{"limit": 1.5}, "'limit' must be a whole number"},
		{map[string]any{"kinds": "x"}, "'kinds' must be an array"},
		{map[string]any{"all": "yes"}, "'all' must be true or false"},
		{map[string]any{"pth": "x"}, `unknown field "pth"`},
	} {
		if _, err := In[in](c.params); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q", c.params, err, c.want)
		}
	}
	got, err := In[in](map[string]any{"path": "a", "limit": 3.0})
	if err != nil || got.Path != "a" || *got.Limit != 3 {
		t.Errorf("got %+v %v", got, err)
	}
}

// T-SET-9: results are I-JSON.
func TestOutIsPlainJSON(t *testing.T) {
	t.Parallel()
	got, err := Out(struct {
		N    int      `json:"n"`
		List []string `json:"list"`
		Gone string   `json:"gone,omitempty"`
	}{N: 3, List: []string{"<a>"}})
	if diff := cmp.Diff(map[string]any{"n": 3.0, "list": []any{"<a>"}}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}
