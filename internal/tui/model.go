package tui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"car/internal/assistant"
	"car/internal/tui/approval"
	"car/internal/tui/composer"
	"car/internal/tui/goal"
	"car/internal/tui/status"
	"car/internal/tui/theme"
	"car/internal/tui/todo"
	"car/internal/tui/toolrow"
	"car/internal/tui/transcript"
)

// phase is what goes on. The moves: idle → running on a send or on an event of a
// run; running → stopping on esc; both → idle on the terminal event; any → leaving.
type phase uint8

const (
	idle phase = iota
	running
	stopping
	leaving
)

// model is the screen's state. It is changed by Update only, in Bubble Tea's loop.
type model struct {
	// fixed at creation
	ctx   context.Context
	cfg   Config
	theme theme.Theme
	calm  time.Duration
	// lost is closed when the terminal is gone; nil never is.
	lost <-chan struct{}
	// await waits until a picture is on the screen; nil never does.
	await func(ctx context.Context, generation uint64) bool
	// away runs something while the terminal is not ours; nil refuses.
	away func(work func() error, done func(error) tea.Msg) tea.Cmd

	phase phase
	exit  Exit
	// wrong is why the screen had to end.
	wrong error

	width, height int
	now           time.Time

	// panes
	text     *transcript.Model
	rows     toolrow.Model
	ask      approval.Model
	composer composer.Model
	status   status.Model
	goal     goal.Model
	pick     picking
	todos    []todo.Item

	// the run
	run      int    // its number, as far as events told
	seen     uint64 // number of the newest event
	said     string // the text since the last call, to compare with a terminal's
	thinking string
	activity string
	retry    retry
	calls    int
	// own says that the next run is for what was sent, and printed, already.
	own    bool
	lagged bool
	events <-chan assistant.Event
	leave  func() // ends the subscription
	// returned are inputs in the editor that the conversation still holds.
	returned []int64
	// wanted is the model that inputs ask for, empty for the session's own.
	wanted string

	// shelled is the person's last own command; shared is what of such commands the
	// next message tells the model.
	shelled *Shelled
	shared  string

	print  printer
	resize resizing
	ticks  ticker
	// quitArmed is not 0 after a first ctrl+c; presses numbers them.
	quitArmed, presses int
	// rewindArmed is not 0 after a first esc that had nothing to end; escapes numbers them.
	rewindArmed, escapes int
	// hidden says that another process has the terminal.
	hidden bool
}

// retry is a wait for a provider.
type retry struct {
	until  time.Time
	reason string
	tries  int
}

// resizing holds a change of size until it has come to rest (B065).
type resizing struct {
	frozen  string
	pending bool
	number  int
	// told says that the size has been reported once, which is at the start.
	told bool
}

// ticker remembers which tick is awaited.
type ticker struct {
	number  int
	pending bool
	fast    bool
}

// newModel makes the state for a screen of that size.
func newModel(ctx context.Context, cfg Config, th theme.Theme, width, height int) *model {
	m := &model{ctx: ctx, cfg: cfg, theme: th, width: width, height: height, now: cfg.Now(), calm: calm}
	m.exit.Resume = cfg.Resume
	m.text = transcript.New(width, th)
	m.composer = composer.Model{}.Resize(width).Remember(cfg.History).Offer(m.choices())
	if cfg.Draft != "" {
		m.composer = m.composer.Set(cfg.Draft)
	}
	m.headed(cfg.Header)
	m.status.Now = m.now
	m.arrange()
	return m
}

// headed takes a header's values into the status line.
func (m *model) headed(h Header) {
	m.cfg.Header = h
	m.status.Model, m.status.Session, m.status.Tier = h.Model, h.Session, h.Tier
	m.status.Confinement, m.status.Gates, m.status.Window = h.Confinement, len(h.Gates), h.Window
}

// Init subscribes, prints the header and sends what was asked for.
func (m *model) Init() tea.Cmd {
	m.events, m.leave = m.cfg.Conversation.Subscribe(m.cfg.From)
	m.printHeader()
	m.printPast()
	cmds := []tea.Cmd{m.listen(), m.todo(), m.flush(), m.ended(), m.undelivered()}
	if m.cfg.First != nil {
		cmds = append(cmds, m.begin(*m.cfg.First))
	}
	return tea.Batch(append(cmds, m.tick())...)
}

// Update routes a message by its family.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.KeyMsg:
		cmd = m.key(msg)
	case pasteMsg:
		cmd = m.paste(msg.text)
	case eventsMsg:
		cmd = m.happened(msg)
	case tickMsg:
		cmd = m.ticked(msg)
	case sizeMsg, settleMsg, tea.WindowSizeMsg:
		cmd = m.sized(msg)
	case effectMsg:
		cmd = msg.apply(m)
	}
	m.arrange()
	return m, tea.Batch(cmd, m.flush(), m.tick(), m.watchAsk())
}

// busy reports whether a run goes on.
func (m *model) busy() bool { return m.phase == running || m.phase == stopping }
