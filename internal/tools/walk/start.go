package walk

import "car/internal/tools/wire"

// Start is where a search begins: the path of a call, the working directory where it
// has none. An empty path is refused, since it may have been meant as a name.
func Start(path *string) (*string, error) {
	switch {
	case path == nil:
		here := "."
		return &here, nil
	case *path == "":
		return nil, wire.Bad("path is empty; leave it out for the working directory")
	}
	return path, nil
}
