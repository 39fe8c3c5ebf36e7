package admit

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
	"car/internal/engine/policy"
	"car/internal/engine/tool"
	"car/internal/engine/verify/schema"
)

// Tools finds the tools that are bound. Safe for concurrent use.
type Tools interface {
	Lookup(name string) (tool.Tool, bool)
	Schemas() []ir.ToolSchema
}

// Log is where decisions are written; an error means that nothing may run.
type Log interface {
	Append(e eventlog.Event) (eventlog.Event, error)
}

// Config makes an Admitter. Gates, Approver may be empty: no gates give no
// opinion, and without an Approver every question is a refusal.
type Config struct {
	Tools    Tools
	Judge    Judge
	Gates    []Gate
	Approver Approver
	Recorder Recorder
	// Ledger holds standing decisions; nil holds none, and then every question stays one.
	Ledger Ledger
	Log    Log
	// Where is the substrate; its root, name and dialect bind approvals.
	Where     tool.Description
	Substrate string
	// EnvDigest stands for the environment that children get; a changed one is asked again.
	EnvDigest ir.Digest
	// Previews shows what a call would do, for prompts. It only reads.
	Previews Previewer
	// GateTimeout bounds one gate's own time; 0 means 10 s.
	GateTimeout time.Duration
}

// Previewer makes the preview of a call that is about to be asked.
type Previewer interface {
	Preview(ctx context.Context, t tool.Tool, call tool.Call, e tool.Effects, j policy.Judgement) ([]ir.Block, error)
}

// Admitter is the one issuer of tickets. Safe for concurrent use.
type Admitter struct {
	cfg Config

	mu sync.Mutex
	// Guarded by mu. gates is replaced as a whole; schemas are compiled when first
	// met, and again when a tool's text changes.
	gates   []Gate
	schemas map[string]compiled
}

// compiled is a tool's schema with the text it was made of.
type compiled struct {
	raw    string
	schema *schema.Schema
}

// CheckOutput lists what is wrong with the output of the action at index i by its
// tool's return schema.
func (a *Admission) CheckOutput(i int, output any) []string {
	returns := a.items[i].spec.Returns
	if len(returns) == 0 {
		return nil
	}
	rules, err := schema.Compile(returns)
	if err != nil {
		return []string{"invalid return JSON schema: " + err.Error()}
	}
	return rules.CheckOutput(output)
}

// schemaOf is the compiled schema of a tool's parameters.
func (a *Admitter) schemaOf(s tool.Spec) (*schema.Schema, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if known, ok := a.schemas[s.Name]; ok && known.raw == string(s.Parameters) {
		return known.schema, nil
	}
	made, err := schema.Compile(s.Parameters)
	if err != nil {
		return nil, fmt.Errorf("tool '%s': %w", s.Name, err)
	}
	a.schemas[s.Name] = compiled{string(s.Parameters), made}
	return made, nil
}

// New checks the configuration and compiles every tool's schema.
func New(c Config) (*Admitter, error) {
	switch {
	case c.Tools == nil:
		return nil, fmt.Errorf("admit: Config.Tools is nil")
	case c.Judge == nil:
		return nil, fmt.Errorf("admit: Config.Judge is nil")
	case c.Recorder == nil:
		return nil, fmt.Errorf("admit: Config.Recorder is nil")
	case c.Log == nil:
		return nil, fmt.Errorf("admit: Config.Log is nil")
	case c.Where.Root == "":
		return nil, fmt.Errorf("admit: Config.Where.Root is empty")
	}
	if c.GateTimeout == 0 {
		c.GateTimeout = 10 * time.Second
	}
	return &Admitter{cfg: c, schemas: map[string]compiled{}, gates: slices.Clone(c.Gates)}, nil
}

// Options say how one proposal is judged.
type Options struct {
	Session string
	Tenant  string
	Turn    int
	// CallPrefix goes before an action id to make the call id of its effects, so
	// that ids which only a proposal makes unique never meet another proposal's.
	CallPrefix string
	// RefuseAction lets the other actions of a proposal go on when a gate names
	// some (D-2); else one refusal by a gate refuses the whole proposal.
	RefuseAction bool
	Capabilities Capabilities
	Generation   int
	// Word answers every question: a person's, given beforehand to exactly this.
	Word *Decision
	// AskNobody refuses every action that has a question (B-COMP-2).
	AskNobody bool
	// Precheck is step 7, the transaction check; nil is none. A Rejection refuses the
	// whole proposal.
	Precheck func(p ir.Proposal) (*Rejection, error)
	// Before is the generation that this one replaces: actions that are the same in
	// both keep their judgement, refusal and approval, and take no budget twice.
	Before *Admission
	// Edited are actions that a person changed, by index; they keep nothing.
	Edited []int
}

// Capabilities narrow what a proposal may do; empty sets allow all, a denial
// wins, and MaxActions 0 is no bound (E-PIPE-8).
type Capabilities struct {
	AllowedTools     []string
	DeniedTools      []string
	AllowedStateKeys []string
	MaxActions       int
}

// Rejection is why an action or a proposal will not run.
type Rejection struct {
	Stage  Stage
	Reason string
	// Event is the kind it is logged as: action_rejected or policy_violation.
	Event eventlog.Kind
	// Violations are policy's, when policy refused.
	Violations []policy.Violation
}

// Stage says where on the way an action was refused (E-LOG-3); its text is wire.
type Stage string

// The stages of refusals.
const (
	StageCapability         Stage = "capability"
	StageProposalCapability Stage = "proposal_capability"
	StageValidation         Stage = "validation"
	StagePolicy             Stage = "policy"
	StageAdmission          Stage = "admission"
	StageApproval           Stage = "approval"
	StageIntent             Stage = "intent"
	StageProjectGate        Stage = "project_gate"
)

// Admission is a proposal on its way: what is refused, what is open, what was
// answered. One goroutine drives it; tickets may be redeemed by many.
type Admission struct {
	by       *Admitter
	opts     Options
	proposal ir.Proposal
	digest   ir.Digest
	items    []item
}

// item is one action of an admission.
type item struct {
	action ir.Action
	digest ir.Digest
	// generation is the first one in which the action stood as it stands now.
	generation int
	tool       tool.Tool
	spec       tool.Spec
	effects    tool.Effects
	judgement  policy.Judgement
	rejection  *Rejection
	questions  []question
	checks     []Check
	yes        *yes
}

// question is something about an action that a person must answer.
type question struct{ gate, reason, fingerprint string }

// Digest is the canonical identity of the proposal.
func (a *Admission) Digest() ir.Digest { return a.digest }

// Judgement is what policy made of the action at index i.
func (a *Admission) Judgement(i int) policy.Judgement { return a.items[i].judgement }

// Source is who the tool of the action at index i comes from, by its registry and
// never by its name (E-EXEC-13).
func (a *Admission) Source(i int) ir.ToolSource { return a.by.sourceOf(a.items[i].action.Tool) }

func (a *Admitter) sourceOf(tool string) ir.ToolSource {
	if known, ok := a.cfg.Tools.(interface{ Source(string) ir.ToolSource }); ok {
		return known.Source(tool)
	}
	return ir.UserDefined
}

// RunsProcess reports that the action at index i starts a process, whose writes
// nobody journals.
func (a *Admission) RunsProcess(i int) bool {
	e := a.items[i].effects
	return e.Shell.Text != "" || e.Program != nil
}

// Checks have to succeed, in their order, before the action at index i may run.
func (a *Admission) Checks(i int) []Check { return a.items[i].checks }

// Spec is what the tool of the action at index i says of itself; zero for a state action.
func (a *Admission) Spec(i int) tool.Spec { return a.items[i].spec }

// Rejected tells why the action at index i will not run, nil while it may.
func (a *Admission) Rejected(i int) *Rejection { return a.items[i].rejection }

// Reject refuses the action at index i for good; the first reason stays.
func (a *Admission) Reject(i int, r Rejection) {
	if a.items[i].rejection == nil {
		a.items[i].rejection = &r
	}
}
