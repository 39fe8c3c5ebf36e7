// Package substrate is where hands act: the machine that runs `car`, reached
// through tool.Substrate. It is the one room of the tools that touches files
// and processes.
//
// Open returns the local substrate. It keeps three promises and judges nothing:
//
//   - Files. Everything below the workspace and below the session's scratch
//     folder goes through os.Root handles, so neither `..` nor a link nor a
//     folder swapped for a link during a write leads out (T-FILE-2). A path is
//     resolved first, link by link, so that its Info tells the truth about where
//     it leads; the handle then opens it and the two are compared. What lies
//     outside can be read, marked Outside, and never written.
//   - Processes. A shell text runs in a session of its own, without terminal,
//     with an empty stdin and without secrets in its environment (T-SHELL-4, 6).
//     Whatever it starts is owned until Close, also what left its process group: a
//     child of this process in a session of its own that no start registered is
//     taken for an orphan, so nobody else in the program may start one.
//     A program with an input of its own (tool.Programs) is owned the same way.
//   - Scratch. TMPDIR of every child is car-<uid>/<session> below the system's
//     temporary folder, 0700, gone after Close; what a killed run left is swept
//     by the next Open (D-33, P-PROC-2).
//
// It imports engine/ir and engine/tool, nothing else of this module.
//
// Another place to act (a sandbox, a container) is another constructor that
// returns a tool.Substrate and passes the suite in this package's tests.
package substrate
