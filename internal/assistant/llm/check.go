package llm

import "fmt"

// Check refuses a request that no provider would take, before anything is sent:
// a missing model or message, a part where it cannot stand, a call without
// exactly one result in the message after it, a result without its call
// (P-WORK-2). The error is an *Error of kind invalid: a defect of whoever built
// the request, not something a person can mend.
func (r Request) Check() error {
	if r.Model == "" {
		return invalidRequest("no model is named")
	}
	if len(r.Messages) == 0 {
		return invalidRequest("there is no message")
	}
	if err := checkTools(r.Tools, r.ToolChoice); err != nil {
		return err
	}
	open := map[string]bool{}
	for i, m := range r.Messages {
		if m.Role != User && m.Role != Assistant {
			return invalidRequest("message %d has no role", i)
		}
		answered := open
		open = map[string]bool{}
		for j, p := range m.Parts {
			if err := checkPart(m.Role, p, answered, open); err != nil {
				return invalidRequest("message %d part %d: %v", i, j, err)
			}
		}
		for id := range answered {
			return invalidRequest("message %d: call %q has no result", i, id)
		}
	}
	for id := range open {
		return invalidRequest("call %q has no result", id)
	}
	return nil
}

// checkPart notes calls in open and takes results out of answered.
func checkPart(role Role, p Part, answered, open map[string]bool) error {
	fromModel := p.Kind == PartToolCall || p.Kind == PartThinking || p.Kind == PartOpaque
	fromUser := p.Kind == PartToolResult || p.Kind == PartImage
	switch {
	case fromModel && role != Assistant, fromUser && role != User:
		return fmt.Errorf("%s in a message of the %s", p.Kind, role)
	case p.Kind == PartToolCall:
		if p.Call == nil || p.Call.ID == "" || p.Call.Name == "" {
			return fmt.Errorf("a call needs an id and a name")
		}
		if open[p.Call.ID] {
			return fmt.Errorf("call %q stands twice", p.Call.ID)
		}
		open[p.Call.ID] = true
	case p.Kind == PartToolResult:
		if p.Result == nil || !answered[p.Result.CallID] {
			return fmt.Errorf("a result answers no open call")
		}
		delete(answered, p.Result.CallID)
	case p.Kind == PartImage:
		if p.Image == nil || (len(p.Image.Data) == 0) == (p.Image.URL == "") {
			return fmt.Errorf("an image needs either data or a URL")
		}
	case p.Kind == PartUnset:
		return fmt.Errorf("the part has no kind")
	}
	return nil
}

func checkTools(tools []Tool, choice ToolChoice) error {
	names := map[string]bool{}
	for _, t := range tools {
		if !wellFormedID(t.Name) {
			return invalidRequest("tool name %q is not 1 to 64 of A-Z a-z 0-9 _ -", t.Name)
		}
		if names[t.Name] {
			return invalidRequest("tool %q stands twice", t.Name)
		}
		names[t.Name] = true
	}
	if choice.Mode == ToolNamed && !names[choice.Name] {
		return invalidRequest("the chosen tool %q is not among the tools", choice.Name)
	}
	return nil
}

func invalidRequest(format string, args ...any) error {
	return &Error{Kind: KindInvalid, Message: "the request cannot be sent: " + fmt.Sprintf(format, args...)}
}
