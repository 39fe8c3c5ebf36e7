// Package verify tells what can be known about a plan before it runs. It answers;
// what an answer is worth is the gates' to decide.
//
//	Verify      every fault of a proposal, with the evidence of what was looked at
//	Simulate    the state that the engine would leave if tools do what they declare
//	Equivalent  whether two proposals leave the same, over sampled states
//	Optimize    a proposal without the dependencies that nothing fulfils
//
// Its neighbours, each a package of pure functions with one door: montecarlo.Run,
// plan.Check, workflow.Check, txn.Check, schema.Compile and others. They share the
// words of report, the graph of dag and the forward model of model. What they find is
// written for people by render; as JSON, the results are the wire form themselves.
//
// Laws of the rooms (V-GEN): no I/O, clock, environment or randomness; time, seeds
// and histories are arguments. Inputs are never changed. Same input, same bytes.
// A bad plan is a finding, never an error. Nothing panics, whatever the input. What
// somebody else wrote is clipped in messages and exact in fields.
//
// A new check is one file with a function that returns findings, and one row of the
// table in table.go. Start reading at Verify, then the table.
package verify
