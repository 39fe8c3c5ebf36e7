package ir

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/gowebpki/jcs"
)

// Canonical writes a value as RFC 8785 canonical JSON, the one form behind every
// digest, chain, fingerprint and key (E-JCS-1). A value that is not I-JSON is
// refused as by CheckValue.
func Canonical(v any) ([]byte, error) {
	if err := CheckValue(v); err != nil {
		return nil, err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode for canonical JSON: %w", err)
	}
	return CanonicalText(text)
}

// CanonicalText writes JSON text as RFC 8785 canonical JSON. Duplicate names,
// invalid UTF-8 and lone surrogates are refused; the number and nesting rules of
// CheckText are not applied, so that a record which wraps accepted values can
// still be hashed.
func CanonicalText(text []byte) ([]byte, error) {
	canonical, err := jcs.Transform(text)
	if err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	return canonical, nil
}

// DigestOf is the digest of a value's canonical form (E-JCS-1).
func DigestOf(v any) (Digest, error) {
	canonical, err := Canonical(v)
	if err != nil {
		return "", err
	}
	return DigestBytes(canonical), nil
}

// DigestBytes is the SHA-256 of raw bytes.
func DigestBytes(b []byte) Digest {
	sum := sha256.Sum256(b)
	return Digest(hex.EncodeToString(sum[:]))
}

// Digest identifies a proposal by its whole content. Containers that a proposal
// built in Go left nil count as empty, as DecodeProposal makes them.
func (p Proposal) Digest() (Digest, error) { return DigestOf(p.shaped()) }

// Digest identifies an action by its whole content.
func (a Action) Digest() (Digest, error) { return DigestOf(a.shaped()) }

// ParamsDigest identifies an action's parameters alone.
func (a Action) ParamsDigest() (Digest, error) { return DigestOf(orEmpty(a.Parameters)) }
