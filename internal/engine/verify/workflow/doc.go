// Package workflow checks a graph of stages: where it can go, where it cannot, and
// whether rules about the order of stages hold on every path (V-WF). Every edge is
// taken as possible, so that a rule which holds does hold; a path that breaks one may
// need conditions that never meet.
//
// Every question is one or two searches of the graph, without recursion, in time
// linear in nodes and edges. Start at Decode, then Check and CheckPolicies. It imports
// ir and its neighbours dag, input and report.
package workflow
