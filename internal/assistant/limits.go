package assistant

import "time"

// The numbers of this package.
const (
	// maxSteps bounds the inferences of a turn; then one without tools sums up (A-LOOP-9).
	maxSteps = 50
	// maxPauses bounds how often a paused reply is sent back (A-LOOP-14).
	maxPauses = 5
	// maxCuts bounds the continuations after a reply that broke off in mid-text (A-LLM-10).
	maxCuts = 2

	// resultBytes and stepBytes bound what a model reads of one call and of one step (A-LOOP-17).
	resultBytes = 16 << 10
	stepBytes   = 64 << 10

	// The watch for calls that lead nowhere (A-LOOP-15).
	watchWindow  = 12
	watchHint    = 3
	watchStop    = 5
	watchPeriod  = 4
	watchRepeats = 3

	// The fan-out of events (A-EVT-4): where joining starts, where a subscriber is
	// given up, and how many events are kept for those who come back.
	queueLimit = 1024
	lagLimit   = 10000
	ringSize   = 2048

	// What events show of calls and results (A-EVT-5, A-EVT-6).
	excerptRunes   = 2000
	evidenceFields = 12
	evidenceRunes  = 200
	shownParams    = 4 << 10
	pendingParams  = 64 << 10
	tailBytes      = 512
	progressGap    = 500 * time.Millisecond

	// The receipt report (A-EVT-7).
	reportBytes    = 64 << 10
	reportReceipts = 100
	briefBytes     = 160

	// approvalWait is how long a question stands when nobody chose otherwise; a
	// choice is kept within the two bounds (A-APPR-9).
	approvalWait    = 300 * time.Second
	minApprovalWait = 10 * time.Second
	maxApprovalWait = 24 * time.Hour

	// Goals (A-GOAL).
	goalIterations    = 10
	maxGoalIterations = 50
	goalCheckTimeout  = 120 * time.Second
	goalOutputBytes   = 2000
	goalStuck         = 3
	goalFiles         = 20000
	goalFileBytes     = 256 << 10

	// closeWait is how long Close waits for a run to end (A-SVC-12).
	closeWait = 10 * time.Second
	// flushWait is how long it waits for subscribers to read what is left.
	flushWait = 2 * time.Second

	// receiptTail is how much of an output a receipt keeps for the claim check.
	receiptTail = 4000

	// defaultWindow is the context window of a model that nobody described, in tokens (A-CTX-7).
	defaultWindow = 128_000

	// Compaction (A-CTX-6, A-CTX-8): where it begins and what it aims at, as parts of
	// what a prompt may fill; how many passes there are, and what they keep.
	compactAt      = 0.8
	compactAim     = 0.5
	maxCompactions = 2
	keepSteps      = 4
	personBytes    = 8 << 10
	stubFrom       = 200
	// assumedReply is kept free for a reply whose bound nobody set, in tokens.
	assumedReply = 8192
	// guessMargin is what guesses are raised by, imageTokens the guess of a picture.
	guessMargin = 1.1
	imageTokens = 1600
	// A prompt that the server counts at less than this part of the guess was cut;
	// small ones are too rough to tell (A-CTX-7).
	truncatedBelow = 0.6
	truncationFrom = 3000
	// What a summary holds at most: bytes of notes, lines of a list, receipts and
	// what each keeps of its output.
	summaryBytes    = 24 << 10
	summaryLines    = 40
	summaryReceipts = 400
	summaryExcerpt  = 500

	// Pictures of one message (A-SVC-6).
	maxPictures  = 20
	pictureBytes = 5 << 20

	// Budgets of a run that nobody chose otherwise (A-LOOP-16).
	budgetToolCalls = 500
	budgetNotice    = 0.8
)
