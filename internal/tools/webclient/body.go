package webclient

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// The bounds of an answer (T-WEB-1).
const (
	maxBody = 2 << 20
	// maxRatio is how much more a body may unpack to; below ratioFrom nobody minds.
	maxRatio  = 100
	ratioFrom = 256 << 10
)

// errBomb says that a body unpacks to more than an honest one does.
var errBomb = fmt.Errorf("it unpacks to more than %d times its size", maxRatio)

// errPacked says that a body is packed in a way that was not asked for.
var errPacked = errors.New("it is packed in a way that was not asked for")

// readBody reads at most maxBody bytes, unpacked.
func readBody(resp *http.Response) (body []byte, truncated bool, err error) {
	wire := &counter{r: resp.Body}
	var r io.Reader = wire
	switch strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))) {
	case "", "identity":
	case "gzip", "x-gzip":
		if resp.Request != nil && resp.Request.Method == http.MethodHead {
			return nil, false, nil
		}
		zipped, err := gzip.NewReader(wire)
		if errors.Is(err, io.EOF) {
			return nil, false, nil // no body at all
		}
		if err != nil {
			return nil, false, err
		}
		r = &bounded{r: zipped, wire: wire}
	default:
		return nil, false, errPacked
	}
	body, err = io.ReadAll(io.LimitReader(r, maxBody+1))
	if len(body) > maxBody {
		return body[:maxBody], true, nil
	}
	return body, false, err
}

// counter counts what came over the wire.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// bounded ends a body that unpacks to too much.
type bounded struct {
	r    io.Reader
	wire *counter
	n    int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.n += int64(n)
	if b.n > ratioFrom && b.n > maxRatio*b.wire.n {
		return 0, errBomb
	}
	return n, err
}
