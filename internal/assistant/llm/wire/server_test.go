package wire

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"log"
	"testing"
)

// quiet keeps the handshake errors that a test provokes out of its output.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

func oldTLS() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
