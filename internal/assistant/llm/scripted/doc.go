// Package scripted is a provider that plays a scenario file instead of asking a
// model: for demonstrations, tests and benchmarks, offline and without a clock
// (A-LLM-14). Start at New; scenario.go is the file's form, play.go plays a turn.
//
// A scenario is TOML. Each [[turn]] is the reply to one request of a session:
//
//	version = 1                                # loop = true starts over at the end
//	[[turn]]
//	expect = { contains = "fix", tools = ["edit_file"] }   # also last_result_contains
//	text = "Reading."                          # thinking, chunk = 16, delay_ms = 5
//	[[turn.call]]
//	name = "read_file"                         # id is optional
//	args = { path = "{{cwd}}/main.go" }        # or args_raw = '{"path": '
//	[turn.usage]
//	input = 1200
//	output = 40
//	[turn.fault]
//	kind = "disconnect"
//	after_chars = 4
//	times = 1                                  # then the turn plays clean
//
// {{cwd}} stands for the working directory in every text. The faults are http
// {status, retry_after, body}, disconnect {after_chars}, stall {ms, after_chars},
// error_event {type, after_chars}, auth {reason}, length, empty and no_stop; the
// middle of the text is where a fault without after_chars strikes.
//
// Invariants: an unknown key is an error with its line; a request past the end, or
// one that does not meet an expect, is an error that names the turn; the same
// requests always give the same events; time passes only in the Sleep handed in.
//
// It may import llm, llm/wire and the TOML reader. A new fault is a row of faults
// and a case of its playing.
package scripted
