// Package suggest finds the check of a goal that nobody named, from what lies in the
// workspace and from the words of the objective (A-GOAL-11). It is deterministic and
// asks no model. What is not certain is not suggested.
//
// Start at For. A kind of project is a row of kinds; to add one, add its marker, its
// command and the program that has to be there. The package reads through an fs.FS
// and imports nothing of this module.
package suggest
