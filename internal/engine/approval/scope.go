package approval

import (
	"car/internal/engine/ir"
)

// EffectID names one effect for good: "act_" and 32 hex digits (A-APPR-5).
type EffectID string

// Scope is everything an approval is bound to; one byte different is another
// scope (A-APPR-2, P-GUARD-2).
type Scope struct {
	Tool                   string         `json:"tool"`
	ToolVersion            string         `json:"tool_version"`
	Parameters             map[string]any `json:"parameters"`
	RepositoryRoot         string         `json:"repository_root"`
	Cwd                    string         `json:"cwd"`
	Target                 string         `json:"target"`
	TargetSource           string         `json:"target_source"`
	Environment            string         `json:"environment"`
	CredentialCapabilities []string       `json:"credential_capabilities"`
	Substrate              string         `json:"substrate"`
	EnvDigest              ir.Digest      `json:"env_digest"`
}

// Digest is the scope's identity: SHA-256 of its canonical JSON.
func (s Scope) Digest() (ir.Digest, error) { return ir.DigestOf(s.canonical()) }

// canonical is the scope as plain JSON values, so that struct layout never
// takes part in the digest.
func (s Scope) canonical() map[string]any {
	capabilities := make([]any, 0, len(s.CredentialCapabilities))
	for _, c := range s.CredentialCapabilities {
		capabilities = append(capabilities, c)
	}
	params := s.Parameters
	if params == nil {
		params = map[string]any{}
	}
	return map[string]any{
		"tool": s.Tool, "tool_version": s.ToolVersion, "parameters": params,
		"repository_root": s.RepositoryRoot, "cwd": s.Cwd,
		"target": s.Target, "target_source": s.TargetSource,
		"environment": s.Environment, "credential_capabilities": capabilities,
		"substrate": s.Substrate, "env_digest": string(s.EnvDigest),
	}
}

// EffectID derives the effect's identity from the session, the call and the
// scope, so that a call seen again after a crash is recognised and a changed
// command under an old call is another effect (A-APPR-5, A-APPR-8). A retry is
// an effect of its own: attempts from the second on take part.
func (s Scope) EffectID(session, callID string, attempt int) (EffectID, error) {
	preimage := map[string]any{"session_id": session, "call_id": callID, "scope": s.canonical()}
	if attempt > 1 {
		preimage["attempt"] = float64(attempt)
	}
	digest, err := ir.DigestOf(preimage)
	if err != nil {
		return "", err
	}
	return EffectID("act_" + string(digest[:32])), nil
}
