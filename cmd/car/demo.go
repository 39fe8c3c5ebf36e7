package main

import (
	"fmt"
	"os"

	carexample "car/.car-example"
	"car/internal/engine/ir"
	"car/internal/tui/safe"
)

// demoTask is what the demo asks for.
const demoTask = "One test fails. Find out why, repair it, and run the tests again."

// setUpDemo writes the demo's project into a new folder, or the one that --dir
// names, and points the flags at it. Only the model is scripted: tools, policy,
// refusals and records are the real ones. The folder stays, to be looked at.
func (a *app) setUpDemo(o *houseOptions) (prompt, error) {
	root := o.dir
	if root == "" {
		var err error
		if root, err = os.MkdirTemp(a.env.temp, "car-demo-"); err != nil {
			return prompt{}, err
		}
	}
	root = a.absolute(root)
	if err := writeDemo(root); err != nil {
		return prompt{}, err
	}
	o.dir, o.model, o.scenario = root, scriptedPrefix+"demo.toml", carexample.Scenario
	if o.tier == ir.TierUnset {
		o.tier = ir.SandboxEdit // the folder is the demo's own
	}
	if !o.quiet {
		fmt.Fprintf(a.io.err, "· the demo works in %s\n· task: %s\n", safe.Line(root), demoTask)
	}
	return prompt{text: demoTask}, nil
}
