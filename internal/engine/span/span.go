package span

import (
	"encoding/hex"
	"fmt"
	"time"
)

// Status is how a span ended; the zero value says nothing of it.
type Status uint8

// The statuses, with the numbers of OTLP.
const (
	Unset Status = iota
	OK
	Error
)

var statusLabels = [...]string{"unset", "ok", "error"}

// String returns the label.
func (s Status) String() string {
	if int(s) < len(statusLabels) {
		return statusLabels[s]
	}
	return fmt.Sprintf("unknown(%d)", uint8(s))
}

// TraceID and ID are random; zero is none.
type (
	TraceID [16]byte
	ID      [8]byte
)

// String is the id in hex.
func (t TraceID) String() string { return hex.EncodeToString(t[:]) }

// String is the id in hex.
func (i ID) String() string { return hex.EncodeToString(i[:]) }

// Ref names a span. The zero value names none: a span below it begins a trace.
type Ref struct {
	Trace TraceID
	Span  ID
}

// Attr is a name and a text.
type Attr struct{ Key, Value string }

// Span is one that has ended.
type Span struct {
	Ref
	// Parent is zero for the root of a trace.
	Parent     ID
	Name       string
	Attributes []Attr
	Start, End time.Time
	Status     Status
}
