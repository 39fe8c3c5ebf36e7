package span

import (
	"encoding/json"
	"io"
	"strconv"
	"time"
)

// JSONLines writes every trace as one line of OTLP JSON (a TracesData message), in
// one Write. service names who speaks.
func JSONLines(w io.Writer, service string) func(trace []Span) error {
	return func(trace []Span) error {
		line, err := json.Marshal(tracesOf(trace, service))
		if err != nil {
			return err
		}
		_, err = w.Write(append(line, '\n'))
		return err
	}
}

// The messages of opentelemetry.proto.trace.v1 as far as they are used. By OTLP's
// rules ids are hex, 64-bit numbers are strings and enums are numbers.
type (
	tracesData struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   resource     `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	resource struct {
		Attributes []keyValue `json:"attributes"`
	}
	scopeSpans struct {
		Scope scope      `json:"scope"`
		Spans []wireSpan `json:"spans"`
	}
	scope struct {
		Name string `json:"name"`
	}
	wireSpan struct {
		TraceID      string     `json:"traceId"`
		SpanID       string     `json:"spanId"`
		ParentSpanID string     `json:"parentSpanId,omitempty"`
		Name         string     `json:"name"`
		Kind         int        `json:"kind"`
		Start        string     `json:"startTimeUnixNano"`
		End          string     `json:"endTimeUnixNano"`
		Attributes   []keyValue `json:"attributes,omitempty"`
		Status       wireStatus `json:"status"`
	}
	keyValue struct {
		Key   string    `json:"key"`
		Value wireValue `json:"value"`
	}
	wireValue struct {
		String string `json:"stringValue"`
	}
	wireStatus struct {
		Code Status `json:"code,omitempty"`
	}
)

// kindInternal is SPAN_KIND_INTERNAL.
const kindInternal = 1

// scopeName is who made the spans.
const scopeName = "car/internal/engine"

func tracesOf(trace []Span, service string) tracesData {
	spans := make([]wireSpan, len(trace))
	for i, s := range trace {
		spans[i] = wireSpan{
			TraceID: s.Trace.String(), SpanID: s.Span.String(), Name: s.Name, Kind: kindInternal,
			Start: nanos(s.Start), End: nanos(s.End), Attributes: attributesOf(s.Attributes), Status: wireStatus{s.Status},
		}
		if s.Parent != (ID{}) {
			spans[i].ParentSpanID = s.Parent.String()
		}
	}
	return tracesData{[]resourceSpans{{
		Resource:   resource{attributesOf([]Attr{{"service.name", service}})},
		ScopeSpans: []scopeSpans{{Scope: scope{scopeName}, Spans: spans}},
	}}}
}

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

func attributesOf(attributes []Attr) []keyValue {
	list := make([]keyValue, len(attributes))
	for i, a := range attributes {
		list[i] = keyValue{a.Key, wireValue{a.Value}}
	}
	return list
}
