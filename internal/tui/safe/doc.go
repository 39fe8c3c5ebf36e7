// Package safe is the one filter between outside text and the terminal
// (P-TERM-1, B069). Whatever a model, a tool, a file name, a prompt or a log line
// says passes through here before it is printed, in every mode of the program.
//
// A terminal obeys what it is sent: control bytes move its cursor, escape
// sequences write its clipboard and rename its window, bidirectional controls make
// a command read as another one. So every such character is shown as an escape a
// person can read (`\x1b`, `\u202e`) and none is passed on. Line ends become "\n"
// and tabs become spaces, because a renderer that counts cells can not know how far
// a tab jumps.
//
// Text and Line filter a whole text. A text which arrives in pieces goes through a
// Stream or a Writer, which keep what the end of one piece leaves open: half a
// UTF-8 sequence, a carriage return, the column of the next tab stop. Styled is for
// text that our own renderer coloured: it keeps colours and nothing else.
//
// The package is a leaf: it imports no other room, holds no state of its own, and
// its functions are safe for concurrent use; a Stream or Writer has one user.
package safe
