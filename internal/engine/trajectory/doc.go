// Package trajectory keeps what proposals came to, a line each in one file a day,
// and learns from them how often a tool succeeds (E-TRAJ). Nothing in the engine
// depends on it: a store that fails is told and changes nothing.
//
// The room imports ir only and writes below one folder. Start at Store.Append.
package trajectory
