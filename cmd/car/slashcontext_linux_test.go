package main

import "testing"

// U-TUI-8, A-CTX-8: /context says what fills the window, and /compact makes room
// before the next request.
func TestContextAndCompactCommands(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	scenario := s.write(t, "scenario.toml", "version = 1\nloop = true\n[[turn]]\ntext = \"I am listening to you, and I say many words about it.\"\n")
	c := converse(t, s, "--model", "scripted:"+scenario)
	c.expect("scripted:")
	c.press("/context\r")
	c.expect("Nothing was sent")
	c.press("hello\r")
	c.expect("I am listening")
	c.press("/context\r")
	c.expect("in the prompt")
	c.expect("first message")
	c.expect("summarised from")
	c.press("and again\r")
	c.expect("I am listening")
	c.press("/compact\r")
	c.expect("before the next request")
	c.press("third\r")
	c.expect("summing older messages up")
	c.expect("nothing older that a summary would make shorter")
	c.expect("I am listening")
	c.press("/quit\r")
	if code, last := c.end(); code != 0 {
		t.Errorf("leaving exits with %d:\n%s", code, last)
	}
}
