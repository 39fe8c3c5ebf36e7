package substrate

import (
	"io/fs"
	"os"
	"strings"
)

const openFlags = os.O_RDONLY

// noFollow has no flag here; what is opened is compared with what was resolved.
const noFollow = 0

// identity is what stays the same for every name of a file.
type identity struct {
	key   string
	inode string
	links uint64
}

// identityOf names a file by its folded path: letter case does not matter here.
// Hard links are not told apart, so links is always 1.
func identityOf(abs string, _ fs.FileInfo) identity {
	return identity{key: strings.ToLower(abs), links: 1}
}
