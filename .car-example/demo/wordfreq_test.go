package wordfreq

import "testing"

func TestCaseIsIgnored(t *testing.T) {
	if got := Count("Go go GO")["go"]; got != 3 {
		t.Errorf("Count found %d times %q, want 3", got, "go")
	}
}

func TestPunctuationIsNoPartOfAWord(t *testing.T) {
	if got := Count("Stop. Go! Go, go; (go)")["go"]; got != 4 {
		t.Errorf("Count found %d times %q, want 4", got, "go")
	}
}
