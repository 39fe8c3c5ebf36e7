package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"car/internal/tools/walk"
	"car/internal/tui/composer"
)

// What a completion looks at: enough to be of use, never a walk to the end of a
// large tree (P-SCALE-1).
const (
	completionWait = 150 * time.Millisecond
	completions    = 50
)

var errEnough = errors.New("enough")

// complete returns the project's files whose path holds what follows the @, in the
// order of the tree, without what git ignores.
func (s *session) complete(ctx context.Context, word string) []composer.Choice {
	ctx, cancel := context.WithTimeout(ctx, completionWait)
	defer cancel()
	part := strings.ToLower(strings.TrimPrefix(word, "@"))
	var found []composer.Choice
	// What ends the walk early is a bound of ours; what was found until then counts.
	_, _ = walk.Tree(ctx, s.room.substrate.FS(), ".", walk.Options{}, func(e walk.Entry) error {
		name := strings.TrimPrefix(e.Path, "./")
		if strings.Contains(strings.ToLower(name), part) {
			if e.Dir.IsDir() {
				name += "/"
			}
			found = append(found, composer.Choice{Text: "@" + name})
		}
		if len(found) == completions {
			return errEnough
		}
		return nil
	})
	return found
}
