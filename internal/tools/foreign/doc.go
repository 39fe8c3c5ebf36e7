// Package foreign makes definitions of tools that come from outside (a program, a
// server) fit to be shown to a model and to a person: names, descriptions and the
// words inside schemas (T-SET-4), names on the wire (T-SET-5), and whose a name is
// (T-SET-6). It is done once, at registration; whoever calls the tool keeps the
// name that its owner gave it (T-SET-3).
//
// The functions are pure. The package imports nothing of this module.
package foreign
