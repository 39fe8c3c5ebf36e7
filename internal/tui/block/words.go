package block

import (
	"fmt"
	"strconv"
	"time"
)

// Duration says how long something took, in at most two units.
func Duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.FormatInt(max(d, 0).Milliseconds(), 10) + "ms"
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
}

// Clock says a time that runs, in whole seconds.
func Clock(d time.Duration) string {
	if d = max(d, 0).Truncate(time.Second); d < time.Minute {
		return strconv.Itoa(int(d.Seconds())) + "s"
	}
	return Duration(d)
}

// Bytes says a size in bytes.
func Bytes(n int64) string {
	switch {
	case n < 1024:
		return Count(int(n), "byte")
	case n < 1024*1024:
		return fmt.Sprintf("%.1f KiB", float64(n)/1024)
	default:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1024*1024))
	}
}

// Count says how many of a thing there are.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
