// Package txn looks for hazards between the actions of a proposal and the state
// they share: beliefs that state has moved past, and writes that nothing orders
// (V-TXN). It decides over what actions declare; undeclared access, and changes
// between the check and the run, it cannot see.
//
// It is pure and imports ir and its neighbours dag and report. Start at Check.
package txn
