package ir

import "encoding/json"

// ToolSchema is what a model is told of a tool (E-IR-4).
type ToolSchema struct {
	Name        string     `json:"name"`
	Source      ToolSource `json:"source"`
	Description string     `json:"description"`
	// Parameters and Returns are JSON Schema; empty Parameters accept everything.
	Parameters   json.RawMessage `json:"parameters"`
	Returns      json.RawMessage `json:"returns,omitempty"`
	Idempotent   bool            `json:"idempotent"`
	CacheTTLSecs uint64          `json:"cache_ttl_secs,omitempty"`
	RateLimit    *RateLimit      `json:"rate_limit,omitempty"`
}

// RateLimit is a token bucket: MaxCalls for each IntervalSecs seconds (E-RATE-1).
type RateLimit struct {
	MaxCalls     uint64  `json:"max_calls"`
	IntervalSecs float64 `json:"interval_secs"`
}

// ToolEntry is a schema with what the model does not see (E-IR-4). ReadOnly is
// the author's word, never the model's.
type ToolEntry struct {
	Schema      ToolSchema `json:"schema"`
	Source      ToolSource `json:"source"`
	Permission  Permission `json:"permission"`
	SideEffects bool       `json:"side_effects"`
	ReadOnly    bool       `json:"read_only"`
	Category    string     `json:"category"`
	CountField  string     `json:"count_field,omitempty"`
}
