// Package dag answers questions about order: levels, reachability, ancestors,
// critical paths and cycles, of the actions of a proposal or of any small graph
// (V-DAG). Nodes are indices. Everything is iterative and linear in nodes and
// edges, but for the closure behind Reaches, which is built once, on demand, up to
// closureNodes.
//
// Start at Of for actions, New for other graphs. It imports ir alone.
package dag
