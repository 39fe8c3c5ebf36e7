// Package approval is the pane that asks a person (U-TUI-4, G-APPR-3).
//
// Its rules, each of them a test:
//   - It shows the whole of what will run: nothing is cut, long commands scroll, and
//     yes is offered only when every line has been on the screen (B011, P-GUARD-2).
//   - Keys typed before it appeared do not answer it. It is deaf until the screen
//     reports that its present picture was drawn, and, while somebody is typing,
//     until they turn to it. Enter never approves. A paste never answers.
//   - Questions which need the same authority are one prompt that lists each
//     (P-GUARD-3); several prompts have a counter and next and previous.
//   - It closes itself when somebody else decided, and says so.
//
// The pane decides nothing: Key returns a Decision, which the screen hands to the
// conversation. Its text is filtered, since all of it comes from a model.
//
// It imports the conversation's events, ir, block, editor, safe and theme.
package approval
