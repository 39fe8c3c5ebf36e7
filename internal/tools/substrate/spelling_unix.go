//go:build !windows

package substrate

// checkPlatformSpelling has nothing to refuse where every name but NUL is a name.
func checkPlatformSpelling(string) error { return nil }
