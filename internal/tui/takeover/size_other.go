//go:build !unix

package takeover

import "os"

// followSize does nothing: there is no signal for a change of size here.
func followSize(_, _ *os.File) (stop func()) { return func() {} }
