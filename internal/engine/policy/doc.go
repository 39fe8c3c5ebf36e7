// Package policy decides what an action needs and whether it may run: tier,
// reversibility and verdict, and why.
package policy
