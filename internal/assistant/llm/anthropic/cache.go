package anthropic

import "car/internal/assistant/llm"

// markerDistance keeps the two rolling markers close enough for the server's
// lookback of 20 blocks, with room for a step of many calls (A-CTX-5).
const markerDistance = 15

type cacheControl struct {
	Type string `json:"type"`
	TTL  string `json:"ttl,omitempty"`
}

// mark puts at most four cache markers: on the last tool, on the system prompt, on
// the last block, and on one up to 15 blocks before it (A-CTX-5).
func mark(r *request, c llm.Cache) {
	control := &cacheControl{Type: "ephemeral"}
	if c == llm.Cache1h {
		control.TTL = c.String()
	}
	if n := len(r.Tools); n > 0 {
		r.Tools[n-1].CacheControl = control
	}
	if n := len(r.System); n > 0 {
		r.System[n-1].CacheControl = control
	}
	var blocks []any
	for _, m := range r.Messages {
		blocks = append(blocks, m.Content...)
	}
	last := markable(blocks, len(blocks)-1, 0)
	if last < 0 {
		return
	}
	blocks[last].(*block).CacheControl = control
	for at := max(0, last-markerDistance); at < last && last >= markerDistance; at++ {
		if b, ok := blocks[at].(*block); ok {
			b.CacheControl = control
			return
		}
	}
}

// markable finds the last block, from the end down to a floor, that may bear a
// marker; thinking may not.
func markable(blocks []any, from, floor int) int {
	for at := from; at >= floor; at-- {
		if _, ok := blocks[at].(*block); ok {
			return at
		}
	}
	return -1
}
