package llm

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A-LOOP-6: what is read, and as what.
func TestParseArgumentsReads(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, raw string
		want      map[string]any
	}{
		{"nothing is an empty object", "", map[string]any{}},
		{"space is an empty object", " \n\t", map[string]any{}},
		{"plain", `{"path":"a.txt","n":2,"deep":{"l":[1,null,true]}}`,
			map[string]any{"path": "a.txt", "n": 2.0, "deep": map[string]any{"l": []any{1.0, nil, true}}}},
		{"space around", " {\"a\":1}\n", map[string]any{"a": 1.0}},
		{"one object inside a fence", "```json\n{\"a\": \"```\"}\n```", map[string]any{"a": "```"}},
		{"a fence without a language", "```\n{\"a\":1}\n```\n", map[string]any{"a": 1.0}},
		{"largest safe integer", `{"n":9007199254740991}`, map[string]any{"n": 9007199254740991.0}},
		{"a pair of surrogates", `{"s":"\ud83d\ude00"}`, map[string]any{"s": "😀"}},
		{"a key that only looks repeated", `{"a":{"a":1},"b":{"a":2}}`,
			map[string]any{"a": map[string]any{"a": 1.0}, "b": map[string]any{"a": 2.0}}},
		{"an escaped backslash before u", `{"s":"\\ud83d"}`, map[string]any{"s": `\ud83d`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseArguments(tc.raw)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A-LOOP-6, P-STREAM-3, B055: what is refused, why and where.
func TestParseArgumentsRefuses(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 129) + "1" + strings.Repeat("}", 129)
	for _, tc := range []struct {
		name, raw, reason string
		offset            int
	}{
		{"cut", `{"path": "a.txt", "content": "hel`, "end before the JSON object does", 33},
		{"an array", ` [1]`, "not a JSON object", 1},
		{"a string", `"{}"`, "not a JSON object", 0},
		{"null", `null`, "not a JSON object", 0},
		{"a repeated key", `{"a":1,"b":2,"a":3}`, `duplicate name "a"`, 16},
		{"a repeated key by escape", `{"a":1,"\u0061":3}`, `duplicate name "a"`, 15},
		{"a repeated key below", `{"o":{"k":1,"k":2}}`, `o: duplicate name "k"`, 15},
		{"bad syntax", `{"a":1,}`, "not valid JSON", 7},
		{"text after", `{"a":1} {"b":2}`, "go on after", 8},
		{"two objects in a fence", "```json\n{\"a\":1}\n{\"b\":2}\n```", "go on after", 16},
		{"prose around a fence", "Sure:\n```json\n{}\n```", "not a JSON object", 0},
		{"an unclosed fence", "```json\n{}", "not a JSON object", 0},
		{"too large an integer", `{"n":9007199254740992}`, "9007199254740992 is beyond", 21},
		{"too large a number", `{"n":1e999}`, "does not fit", 10},
		{"half a surrogate pair", `{"s":"\ud83d"}`, "surrogate", 13},
		{"the other half", `{"s":"\ude00"}`, "surrogate", 13},
		{"no UTF-8", "{\"s\":\"\xff\"}", "UTF-8", 8},
		{"too deep", deep, "nested deeper than 128", 640},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := ParseArguments(tc.raw)
			var bad *ArgumentError
			if !errors.As(err, &bad) {
				t.Fatalf("error %v, want an *ArgumentError", err)
			}
			if !strings.Contains(bad.Reason, tc.reason) || bad.Offset != tc.offset {
				t.Errorf("%v at %d, want %q at %d", bad.Reason, bad.Offset, tc.reason, tc.offset)
			}
			if len(bad.Excerpt) > excerptBytes+3 {
				t.Errorf("excerpt of %d bytes", len(bad.Excerpt))
			}
		})
	}
}

// A-LOOP-6: the size limit counts before anything is read.
func TestParseArgumentsSize(t *testing.T) {
	t.Parallel()
	fits := `{"a":"` + strings.Repeat("x", maxArguments-8) + `"}`
	if _, err := ParseArguments(fits); err != nil {
		t.Errorf("%d bytes: %v", len(fits), err)
	}
	if _, err := ParseArguments(fits + " "); err == nil {
		t.Error("one byte more is read")
	}
}

// P-STREAM-3, B055: what goes back is valid JSON whatever the model sent.
func TestReplayArguments(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"":                             "{}",
		` {"a": "<b>"} `:               `{"a": "<b>"}`,
		"```json\n{\"a\":1}\n```":      `{"a":1}`,
		`{"path": "a.txt", "c": "h`:    `{"invalid_arguments":"{\"path\": \"a.txt\", \"c\": \"h"}`,
		`{"a":1,"a":2}`:                `{"invalid_arguments":"{\"a\":1,\"a\":2}"}`,
		"[1]":                          `{"invalid_arguments":"[1]"}`,
		"{\"s\":\"\xff<\"}":            `{"invalid_arguments":"{\"s\":\"�<\"}"}`,
		"{" + strings.Repeat("é", 2e3): `{"invalid_arguments":"{` + strings.Repeat("é", 1023) + `…"}`,
	} {
		got := ReplayArguments(raw)
		if got != want {
			t.Errorf("%q: got %q, want %q", raw, got, want)
		}
		if _, err := ParseArguments(got); err != nil {
			t.Errorf("%q: what goes back is refused: %v", raw, err)
		}
	}
}

// The reader must agree with encoding/json on every text that it accepts.
func FuzzParseArguments(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":null}]}`, "```json\n{}\n```", `{"a":"\ud83d\ude00"}`, `{"a":1,"a":2}`, `{"a`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := ParseArguments(raw)
		if err != nil {
			var bad *ArgumentError
			if !errors.As(err, &bad) || bad.Offset < 0 || bad.Offset > len(raw) {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		var want map[string]any
		if err := json.Unmarshal([]byte(ReplayArguments(raw)), &want); err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", raw, diff)
		}
	})
}
