//go:build !linux

package confine

import (
	"errors"
	"os"
)

// Keeper starts confined commands; on this system there is none.
type Keeper struct{}

// ABI is the level of Landlock, 0 where there is none.
func ABI() int { return 0 }

// Open always fails on this system.
func Open(string, []string, Plan) (*Keeper, error) { return nil, errors.ErrUnsupported }

// Spawn always fails on this system.
func (*Keeper) Spawn(Start, [3]*os.File) (int, error) { return 0, errors.ErrUnsupported }

// Close does nothing on this system.
func (*Keeper) Close() {}

// Main always fails on this system.
func Main() error { return errors.ErrUnsupported }
