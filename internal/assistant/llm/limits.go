package llm

import "time"

// The numbers of this package.
const (
	// maxArguments is the size in bytes above which arguments are refused (A-LOOP-6).
	maxArguments = 1 << 20
	// excerptBytes is how much of refused arguments an error shows.
	excerptBytes = 60
	// replayExcerptBytes is how much of refused arguments goes back to the model.
	replayExcerptBytes = 2048

	retryTries    = 6
	retryTotal    = 5 * time.Minute
	retryBase     = time.Second
	retryCap      = 30 * time.Second
	retryAfterMax = 120 * time.Second
	retryLoading  = 2 * time.Second
	// retryBrief is long enough for a server on this machine that is being restarted.
	retryBrief = 2 * time.Second
)
