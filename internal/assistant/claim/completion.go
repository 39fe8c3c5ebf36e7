package claim

import (
	"fmt"
	"slices"
	"strings"
)

// Completion is the completion matrix (A-CLAIM-2): for each question a text made
// of receipts, or nil where no receipt answers it.
type Completion struct {
	LocalVerification      *string `json:"local_verification"`
	RemoteMain             *string `json:"remote_main"`
	CICD                   *string `json:"ci_cd"`
	Deployment             *string `json:"deployment"`
	Health                 *string `json:"health"`
	ProductionBrowserProof *string `json:"production_browser_proof"`
	FilesChanged           *string `json:"files_changed"`
	Committed              *string `json:"committed"`
}

// Complete fills the matrix from receipts, oldest first. The last run of a kind
// answers for it, whether it succeeded or not.
func Complete(receipts []Receipt) Completion {
	var c Completion
	var files []string
	for _, r := range receipts {
		if !r.Ran {
			continue
		}
		for _, p := range r.Changed {
			if !slices.Contains(files, p) {
				files = append(files, p)
			}
		}
		classes := r.classes()
		for _, row := range []struct {
			class class
			into  **string
		}{{classTest | classBuild, &c.LocalVerification}, {classPush, &c.RemoteMain}, {classCI, &c.CICD},
			{classDeploy, &c.Deployment}, {classHealth, &c.Health}, {classCommit, &c.Committed}} {
			if classes&row.class != 0 {
				*row.into = outcome(r)
			}
		}
	}
	if len(files) > 0 {
		text := fmt.Sprintf("%d: %s", len(files), strings.Join(files[:min(len(files), 20)], ", "))
		c.FilesChanged = &text
	}
	return c
}

// outcome is a run in one line.
func outcome(r Receipt) *string {
	text := quoted(r.Brief)
	switch {
	case r.ExitCode != nil:
		text += fmt.Sprintf(" (exit %d)", *r.ExitCode)
	case r.OK:
		text += " (ok)"
	default:
		text += " (failed)"
	}
	return &text
}

// Map returns the matrix as plain JSON values, for an event.
func (c Completion) Map() map[string]any {
	m := map[string]any{}
	for name, text := range map[string]*string{
		"local_verification": c.LocalVerification, "remote_main": c.RemoteMain, "ci_cd": c.CICD, "deployment": c.Deployment,
		"health": c.Health, "production_browser_proof": c.ProductionBrowserProof, "files_changed": c.FilesChanged, "committed": c.Committed,
	} {
		m[name] = nil
		if text != nil {
			m[name] = *text
		}
	}
	return m
}
