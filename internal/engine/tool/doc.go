// Package tool is the contract of a hand: what a tool says of itself (Spec),
// what a call of it would do (Effects, Preview), and how it acts (Run) through
// the Env that dispatch lends it for one ticket.
//
// A tool never asks permission, names no policy and touches no file, process or
// network but through Env. Env confines, journals and redacts by itself.
// Substrate is what stands below Env: the place where hands act.
//
// The package holds types and no behaviour. It may import ir only. A new tool
// is a directory below internal/tools that implements Tool; see its doc.
package tool
