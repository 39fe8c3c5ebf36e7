package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"golang.org/x/term"

	"car/internal/tui/input"
	"car/internal/tui/screen"
	"car/internal/tui/theme"
)

// echoRate is how often a second the renderer looks for a changed picture, so that a
// key does not wait for its echo (U-SPEED). Text that streams changes the picture at
// most thirty times a second all the same: see ticks.go.
const echoRate = 120

// patience is how long a terminal may take to say what its background is.
const patience = 100 * time.Millisecond

// Run shows the conversation until the person leaves, the first run has ended (with
// Config.Leave), the conversation closes or ctx ends. The terminal is given back as
// it was on every way out. It neither cancels a run nor closes the conversation.
func Run(ctx context.Context, c Config) (Exit, error) {
	if err := c.check(); err != nil {
		return Exit{}, err
	}
	features := theme.Detect(c.Environ)
	if features.Dumb || features.Accessible || !term.IsTerminal(int(c.In.Fd())) || !term.IsTerminal(int(c.Out.Fd())) {
		return lines(ctx, c, features)
	}
	t, err := open(c)
	if err != nil {
		return Exit{}, err
	}
	defer t.close()
	width, height, err := term.GetSize(int(c.Out.Fd()))
	if err != nil {
		return Exit{}, fmt.Errorf("tui: the terminal's size: %w", err)
	}
	dark := t.dark()
	lipgloss.SetHasDarkBackground(dark) // so that nobody asks the terminal again
	th := theme.New(theme.Options{Profile: features.Profile, Dark: dark, ASCII: features.ASCII})
	m := newModel(ctx, c, th, width, height)
	if features.Multiplexed {
		m.calm = calmMultiplexed
	}
	return t.run(ctx, c, m, features)
}

func (t *terminal) run(ctx context.Context, c Config, m *model, features theme.Features) (Exit, error) {
	var program *tea.Program
	out := screen.New(screen.Config{Out: c.Out, Reflows: features.Reflows, Dropped: func() { go program.Send(t.size()) }})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends what waits for pictures and events
	m.ctx, m.await, m.away, m.lost = ctx, out.Await, t.away, t.pump.Gone()
	g := &guard{model: m, failed: make(chan struct{})}
	program = tea.NewProgram(g, tea.WithInput(t.pump.Keys()), tea.WithOutput(out), tea.WithFPS(echoRate),
		tea.WithFilter(filter(t.pump.Paste)), tea.WithoutSignalHandler())
	stop := t.suspends(program)
	defer stop()
	_, err := program.Run()
	if m.leave != nil {
		m.leave()
	}
	switch {
	case g.err != nil:
		return m.exit, g.err
	case m.wrong != nil:
		return m.exit, m.wrong
	case err != nil:
		return m.exit, fmt.Errorf("tui: %w", err)
	}
	return m.exit, nil
}

// guard keeps a panic of the model from leaving the terminal as it is: the screen
// ends in the ordinary way and the panic becomes an error.
type guard struct {
	*model
	err    error
	failed chan struct{} // closed by guard when it has caught a panic
}

// Init starts the model, and the end that a panic brings.
func (g *guard) Init() tea.Cmd {
	wait := func() tea.Msg {
		select {
		case <-g.failed:
			return tea.QuitMsg{}
		case <-g.ctx.Done():
			return nil
		}
	}
	var cmd tea.Cmd
	g.guarded("start", func() { cmd = g.model.Init() })
	return tea.Batch(cmd, wait)
}

// Update passes messages on.
func (g *guard) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	g.guarded("update", func() { _, cmd = g.model.Update(msg) })
	return g, cmd
}

// View draws, or nothing once something went wrong.
func (g *guard) View() (view string) {
	g.guarded("view", func() { view = g.model.View() })
	if g.err != nil {
		return screen.Mark(screen.Frame{Width: g.width, Height: g.height, Lines: []int{0}, Row: -1})
	}
	return view
}

func (g *guard) guarded(where string, work func()) {
	if g.err != nil {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			g.err = &PanicError{where, v, debug.Stack()}
			close(g.failed)
		}
	}()
	work()
}

// terminal is the person's terminal while the screen has it.
type terminal struct {
	in, out *os.File
	pump    *input.Pump
	cooked  *term.State
	stops   chan os.Signal // written by the runtime, read by suspends
}

// open takes the terminal: keys come one by one and unechoed.
func open(c Config) (*terminal, error) {
	pump, err := input.New(c.In)
	if err != nil {
		return nil, fmt.Errorf("tui: %w", err)
	}
	t := &terminal{in: c.In, out: c.Out, pump: pump, stops: make(chan os.Signal, 1)}
	if err := t.take(); err != nil {
		pump.Close()
		return nil, err
	}
	return t, nil
}

func (t *terminal) take() (err error) {
	if t.cooked, err = term.MakeRaw(int(t.in.Fd())); err != nil {
		return fmt.Errorf("tui: the terminal's mode: %w", err)
	}
	if err := t.pump.Start(); err != nil {
		return errors.Join(fmt.Errorf("tui: %w", err), t.giveBack())
	}
	return nil
}

// giveBack makes the terminal what it was.
func (t *terminal) giveBack() error {
	t.pump.Pause()
	if t.cooked == nil {
		return nil
	}
	cooked := t.cooked
	t.cooked = nil
	if err := term.Restore(int(t.in.Fd()), cooked); err != nil {
		return fmt.Errorf("tui: give the terminal back: %w", err)
	}
	return nil
}

func (t *terminal) close() {
	t.giveBack() // a terminal that is gone can not be given back
	t.pump.Close()
}

// size tells the size again, as if it had changed; a terminal without one tells nothing.
func (t *terminal) size() tea.Msg {
	width, height, err := term.GetSize(int(t.out.Fd()))
	if err != nil {
		return nil
	}
	return tea.WindowSizeMsg{Width: width, Height: height}
}

// dark asks for the background, for a moment.
func (t *terminal) dark() bool {
	if _, err := io.WriteString(t.out, input.Ask); err != nil {
		return true
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case colour := <-t.pump.Background():
		if dark, ok := input.IsDark(colour); ok {
			return dark
		}
	case <-timer.C:
	}
	return true
}

// away runs work while the terminal is somebody else's.
func (t *terminal) away(work func() error, done func(error) tea.Msg) tea.Cmd {
	return tea.Exec(absence{t, work}, func(err error) tea.Msg { return done(err) })
}

// absence is work without the terminal, as Bubble Tea runs it.
type absence struct {
	*terminal
	work func() error
}

// Run gives the terminal back, works, and takes it again.
func (a absence) Run() error {
	if err := a.giveBack(); err != nil {
		return errors.Join(err, a.take())
	}
	err := a.work()
	a.watchStops()
	return errors.Join(err, a.take())
}

// SetStdin and the two below do nothing: who gets the terminal has it already.
func (absence) SetStdin(io.Reader) {}

// SetStdout does nothing.
func (absence) SetStdout(io.Writer) {}

// SetStderr does nothing.
func (absence) SetStderr(io.Writer) {}
