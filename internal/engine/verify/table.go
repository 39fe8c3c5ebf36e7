package verify

import (
	"slices"

	"car/internal/engine/verify/report"
)

// check is one row of the table: what is looked for, when, and how far it carries.
// One of before, each and after finds; they read the run and change nothing of it
// but what they leave for the evidence.
type check struct {
	name string
	tier report.Tier
	// turn orders the findings of a result (V-VERIFY-5).
	turn int
	// advisory findings rest on declared effects or a proxy and never block (V-VERIFY-9).
	advisory bool

	before func(*run) []finding
	// each is asked of every action in the order of the walk, before its effects.
	each  func(r *run, i int) []finding
	after func(*run) []finding

	// verifies and cannotVerify are what a pass says and does not say (V-VERIFY-7).
	verifies, cannotVerify func(*run) string
	// ran is whether the check had what it needs; nil is always.
	ran func(*run) bool
}

// table is every check, the reference's eight first (V-VERIFY-4). Evidence lists
// them in this order.
var table = []check{
	{name: "resource_bounds", tier: report.DecisionProcedure, turn: 2, before: findExcess,
		verifies: boundsVerify, cannotVerify: says("cost, time and memory of the actions when they run")},
	{name: "loop_detection", tier: report.Heuristic, turn: 3, advisory: true, before: findLoops,
		verifies: says("no call is repeated with the same parameters often enough to look like a loop"), cannotVerify: says("redundant calls whose parameters differ")},
	{name: "preconditions", tier: report.DecisionProcedure, turn: 5, advisory: true, each: findUnmet,
		verifies: says("preconditions and assertions hold in the forward model of declared effects"), cannotVerify: says("keys whose value is known only at run time")},
	{name: "state_dependencies", tier: report.DecisionProcedure, turn: 6, advisory: true, each: findMissing,
		verifies: says("each declared dependency is in the state or produced before it is read"), cannotVerify: says("state that a tool reads without declaring it")},
	{name: "tool_existence", tier: report.DecisionProcedure, turn: 8, each: findUnregistered,
		verifies: existenceVerify, cannotVerify: says("that a tool does what its name says"), ran: existenceRan},
	{name: "param_schema", tier: report.DecisionProcedure, turn: 9, each: findBadParameters,
		verifies: schemaVerify, cannotVerify: schemaCannot, ran: schemaRan},
	{name: "compensation_resolution", tier: report.DecisionProcedure, turn: 10, each: findBadCompensation,
		verifies: compensationVerify, cannotVerify: says("that it is the inverse and will still work later"), ran: compensationRan},
	{name: "write_conflicts", tier: report.DecisionProcedure, turn: 12, after: findConflicts,
		verifies: says("writers of one key are ordered"), cannotVerify: says("effects that contradict each other in meaning")},
	{name: "action_ids", tier: report.DecisionProcedure, turn: 1, before: findBadIDs,
		verifies: says("action ids are unique, the ids that order actions exist and form no cycle"), cannotVerify: says("order that is meant and not declared")},
	{name: "dependency_cycles", tier: report.DecisionProcedure, turn: 4, advisory: true, before: findCycles,
		verifies: says("no set of actions waits for state that only the set itself provides"), cannotVerify: says("state that a tool writes without declaring it")},
	{name: "unknown_reads", tier: report.DecisionProcedure, turn: 7, each: findUnknownReads,
		verifies: says("nothing read is left open by an undeclared write"), cannotVerify: says("writes that appear in no write_set")},
	{name: "read_races", tier: report.DecisionProcedure, turn: 13, after: findRaces,
		verifies: says("nothing is read while an action of the same concurrent level writes it"), cannotVerify: says("undeclared reads and writes")},
	{name: "inert_effects", tier: report.DecisionProcedure, turn: 11, each: findInert,
		verifies: says("only tool calls declare effects"), cannotVerify: says("whether the effects were meant for another action")},
	{name: "goal", tier: report.DecisionProcedure, turn: 14, advisory: true, after: findGoal,
		verifies: goalVerify, cannotVerify: says("goals that rest on commands, receipts or judgement, and tools that do other than they declare"), ran: func(r *run) bool { return r.o.Goal != nil }},
}

// says is a scope that is the same for every run.
func says(text string) func(*run) string { return func(*run) string { return text } }

// inTurn is the table in the order in which findings come.
func inTurn(rows []check) []*check {
	checks := make([]*check, len(rows))
	for i := range rows {
		row := rows[i]
		checks[i] = &row
	}
	slices.SortStableFunc(checks, func(a, b *check) int { return a.turn - b.turn })
	return checks
}

func advisory(name string) bool {
	for _, c := range table {
		if c.name == name {
			return c.advisory
		}
	}
	return false
}
