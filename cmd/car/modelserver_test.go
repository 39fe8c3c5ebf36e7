package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// modelServer plays a model over loopback HTTP in the formats of two providers. It
// appends to a ledger: words "append N" make it call the shell, a result makes it
// end. Every request must pass a strict check of calls and results, as the real
// servers make it (P-WORK-2).
type modelServer struct {
	*httptest.Server
	command func(n string) string
	// stall, where it is set, is called in mid-stream of a reply to words.
	mu      sync.Mutex
	stall   func()
	broken  []string
	prompts []turnText // the texts of the newest request
}

// turnText is one message as a test looks at it: words, calls and results.
type turnText struct {
	role, words    string
	calls, results []string
	resultTexts    []string
}

func newModelServer(t *testing.T, command func(n string) string) *modelServer {
	m := &modelServer{command: command}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", func(w http.ResponseWriter, r *http.Request) { m.serve(w, r, readAnthropic, anthropicReply) })
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) { m.serve(w, r, readChat, chatReply) })
	m.Server = httptest.NewServer(mux)
	t.Cleanup(m.Close)
	return m
}

// env names the server to car in both formats.
func (m *modelServer) env() []string {
	return []string{"ANTHROPIC_BASE_URL=" + m.URL, "ANTHROPIC_API_KEY=test-key-of-nobody", "OPENAI_BASE_URL=" + m.URL + "/v1", "NO_PROXY=127.0.0.1"}
}

func (m *modelServer) serve(w http.ResponseWriter, r *http.Request, read func(*json.Decoder) ([]turnText, error), reply func(text, callID, command string) []string) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // whoever sent it was killed meanwhile
	}
	turns, err := read(json.NewDecoder(bytes.NewReader(body)))
	if err == nil {
		err = paired(turns)
	}
	m.mu.Lock()
	m.prompts = turns
	stall := m.stall
	if err != nil {
		m.broken = append(m.broken, err.Error())
	}
	m.mu.Unlock()
	if err != nil {
		http.Error(w, `{"error":{"type":"invalid_request_error","message":"`+err.Error()+`"}}`, http.StatusBadRequest)
		return
	}
	last := turns[len(turns)-1]
	text, id, command := "Appended.", "", ""
	if at := strings.LastIndex(last.words, "append "); at >= 0 && len(last.results) == 0 {
		n := last.words[at+len("append "):]
		text, id, command = "I append it.", "call_"+n, m.command(n)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for i, frame := range reply(text, id, command) {
		fmt.Fprint(w, frame)
		w.(http.Flusher).Flush()
		if i == 2 && id != "" && stall != nil {
			stall()
			<-r.Context().Done()
			return
		}
	}
}

// paired holds a conversation to what every provider demands: roles that a model
// may follow, each call answered by exactly the message behind it, ids used once.
func paired(turns []turnText) error {
	var open []string
	seen := map[string]bool{}
	for i, t := range turns {
		if len(t.results) != len(open) {
			return fmt.Errorf("message %d holds %d results for %d calls", i, len(t.results), len(open))
		}
		for k, id := range open {
			if t.results[k] != id {
				return fmt.Errorf("message %d answers %s where %s was called", i, t.results[k], id)
			}
		}
		if t.words == "" && len(t.calls) == 0 && len(t.results) == 0 {
			return fmt.Errorf("message %d is empty", i)
		}
		open = t.calls
		for _, id := range open {
			if id == "" || seen[id] {
				return fmt.Errorf("message %d: the call id %q is not its own", i, id)
			}
			seen[id] = true
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("the last message calls %v and nothing answers", open)
	}
	return nil
}

func readAnthropic(d *json.Decoder) ([]turnText, error) {
	var body struct {
		Messages []struct {
			Role    string
			Content []struct {
				Type, Text, ID string
				ToolUseID      string `json:"tool_use_id"`
				Content        json.RawMessage
			}
		}
	}
	if err := d.Decode(&body); err != nil {
		return nil, err
	}
	var turns []turnText
	for i, m := range body.Messages {
		t := turnText{role: m.Role}
		// The server joins messages of the user that follow each other, and no others.
		if m.Role != "user" && (m.Role != "assistant" || i == 0 || body.Messages[i-1].Role == "assistant") {
			return nil, fmt.Errorf("message %d is the %s's, and roles take turns", i, m.Role)
		}
		for _, c := range m.Content {
			switch c.Type {
			case "text":
				t.words += c.Text
			case "tool_use":
				t.calls = append(t.calls, c.ID)
			case "tool_result":
				if t.words != "" {
					return nil, fmt.Errorf("message %d: results stand first", i)
				}
				t.results, t.resultTexts = append(t.results, c.ToolUseID), append(t.resultTexts, string(c.Content))
			}
		}
		// Words behind results in one message answer them as a message of their own would.
		if len(t.results) > 0 && t.words != "" {
			turns = append(turns, turnText{role: m.Role, results: t.results, resultTexts: t.resultTexts}, turnText{role: m.Role, words: t.words})
			continue
		}
		turns = append(turns, t)
	}
	return turns, nil
}

func readChat(d *json.Decoder) ([]turnText, error) {
	var body struct {
		Messages []struct {
			Role       string
			Content    any
			ToolCallID string                `json:"tool_call_id"`
			ToolCalls  []struct{ ID string } `json:"tool_calls"`
		}
	}
	if err := d.Decode(&body); err != nil {
		return nil, err
	}
	var turns []turnText
	for _, m := range body.Messages {
		if m.Role == "system" || m.Role == "developer" {
			continue
		}
		if m.Role == "tool" {
			if last := len(turns) - 1; last < 0 || turns[last].role != "tool" {
				turns = append(turns, turnText{role: "tool"})
			}
			t := &turns[len(turns)-1]
			t.results, t.resultTexts = append(t.results, m.ToolCallID), append(t.resultTexts, fmt.Sprint(m.Content))
			continue
		}
		t := turnText{role: m.Role}
		if m.Content != nil {
			t.words = fmt.Sprint(m.Content)
		}
		for _, c := range m.ToolCalls {
			t.calls = append(t.calls, c.ID)
		}
		turns = append(turns, t)
	}
	return turns, nil
}

func anthropicReply(text, callID, command string) []string {
	frame := func(kind, fields string) string {
		return fmt.Sprintf("event: %s\ndata: {\"type\":%q%s}\n\n", kind, kind, fields)
	}
	frames := []string{
		frame("message_start", `,"message":{"id":"m","type":"message","role":"assistant","model":"stub","content":[],"usage":{"input_tokens":9,"output_tokens":1}}`),
		frame("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`),
		frame("content_block_delta", fmt.Sprintf(`,"index":0,"delta":{"type":"text_delta","text":%q}`, text)),
		frame("content_block_stop", `,"index":0`),
	}
	stop := "end_turn"
	if callID != "" {
		args, _ := json.Marshal(map[string]string{"command": command})
		stop = "tool_use"
		frames = append(frames,
			frame("content_block_start", fmt.Sprintf(`,"index":1,"content_block":{"type":"tool_use","id":%q,"name":"shell","input":{}}`, "toolu_"+callID)),
			frame("content_block_delta", fmt.Sprintf(`,"index":1,"delta":{"type":"input_json_delta","partial_json":%q}`, args)),
			frame("content_block_stop", `,"index":1`))
	}
	return append(frames, frame("message_delta", fmt.Sprintf(`,"delta":{"stop_reason":%q},"usage":{"output_tokens":5}`, stop)), frame("message_stop", ""))
}

func chatReply(text, callID, command string) []string {
	frame := func(delta, finish string) string {
		return fmt.Sprintf("data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"stub\",\"choices\":[{\"index\":0,\"delta\":{%s},\"finish_reason\":%s}]}\n\n", delta, finish)
	}
	frames := []string{frame(`"role":"assistant"`, "null"), frame(fmt.Sprintf(`"content":%q`, text), "null"), ": still here\n\n"}
	stop := `"stop"`
	if callID != "" {
		args, _ := json.Marshal(map[string]string{"command": command})
		quoted, _ := json.Marshal(string(args))
		stop = `"tool_calls"`
		frames = append(frames, frame(fmt.Sprintf(`"tool_calls":[{"index":0,"id":%q,"type":"function","function":{"name":"shell","arguments":%s}}]`, callID, quoted), "null"))
	}
	return append(frames, frame("", stop), "data: [DONE]\n\n")
}
