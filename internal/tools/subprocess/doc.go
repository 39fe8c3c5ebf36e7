// Package subprocess makes tools of programs that somebody else wrote (E-TOOL-2). A
// call starts the program, writes one JSON-RPC request to its stdin and reads one
// response from its stdout; lines before the response are noise and pass. A
// non-zero exit, silence and a broken response are failures that end with what the
// program said on stderr.
//
// Where the action declares effects, the result has to be the exact envelope
// {output, state_changes} (E-EXEC-7). What a program says never picks another
// executor: the tools behind a toolbox answer other names, not this one (E-EXEC-4).
//
// The tools are not in the generated registry: a host registers what New returns.
// The program runs through tool.Env, owned by the substrate; what it says is
// redacted by dispatch. The package imports engine/ir, engine/tool, tools/foreign
// and tools/wire.
package subprocess
