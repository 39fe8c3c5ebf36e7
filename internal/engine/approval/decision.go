package approval

import (
	"context"
	"errors"
	"fmt"
	"time"

	"car/internal/engine/ir"
)

// Decision is a person's standing word about a fingerprint (E-PIPE-6, G-APPR-2).
type Decision struct {
	Fingerprint string
	// RequiredTier is the authority the approval was given for; less than what is
	// needed does not count.
	RequiredTier ir.Tier
	Approved     bool
	Reviewer     string
	Reason       string
	DecidedAt    time.Time
}

// Word is "approved" or "rejected", as logs say it.
func (d Decision) Word() string {
	if d.Approved {
		return "approved"
	}
	return "rejected"
}

// Book keeps decisions durably. Safe for concurrent use.
type Book interface {
	// PutDecision is on disk when it returns; it replaces an older one.
	PutDecision(ctx context.Context, d Decision) error
	Decision(ctx context.Context, fingerprint string) (Decision, bool, error)
}

// Record checks and writes a decision. One that could not be written is not one.
func Record(ctx context.Context, b Book, d Decision) error {
	switch {
	case b == nil:
		return errors.New("there is no ledger to record the decision in")
	case d.Fingerprint == "":
		return errors.New("decision without a fingerprint")
	case d.Reviewer == "":
		return errors.New("decision without a reviewer")
	}
	if err := b.PutDecision(ctx, d); err != nil {
		return fmt.Errorf("cannot durably record approval: %w", err)
	}
	return nil
}
