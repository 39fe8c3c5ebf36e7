package input

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/muesli/cancelreader"
)

// grace is how long the terminal has to be silent before what could have gone on is
// taken as complete.
const grace = 30 * time.Millisecond

// Pump reads a terminal and offers its keys to a reader. Make one with New, then
// Start it; Pause and Start again around another process; Close it at the end.
type Pump struct {
	tty  *os.File
	keys *os.File // the pipe's end for Bubble Tea
	feed *os.File // our end of it

	// background gets the answer to a question for the colour, empty where the
	// terminal only said who it is. Written by the running pump, once; never closed.
	background chan string
	// gone is closed by the running pump when the terminal can be read no more.
	gone chan struct{}

	mu     sync.Mutex // guards all below
	pastes map[int]string
	next   int
	reader cancelreader.CancelReader
	done   chan struct{} // closed when the running pump has ended
}

// New makes a pump that is not reading yet.
func New(tty *os.File) (*Pump, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe for keys: %w", err)
	}
	return &Pump{tty: tty, keys: r, feed: w, background: make(chan string, 1), gone: make(chan struct{}), pastes: map[int]string{}}, nil
}

// Keys is where the keys can be read.
func (p *Pump) Keys() *os.File { return p.keys }

// Background receives once: the colour that the terminal answered with, or nothing
// when it answered who it is before that.
func (p *Pump) Background() <-chan string { return p.background }

// Gone is closed when the terminal is no longer there.
func (p *Pump) Gone() <-chan struct{} { return p.gone }

// Start begins to read the terminal.
func (p *Pump) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reader != nil {
		return nil
	}
	reader, err := cancelreader.NewReader(p.tty)
	if err != nil {
		return fmt.Errorf("read the terminal: %w", err)
	}
	p.reader, p.done = reader, make(chan struct{})
	go p.run(reader, p.done)
	return nil
}

// Pause ends reading and waits until the terminal is free for somebody else.
func (p *Pump) Pause() {
	p.mu.Lock()
	reader, done := p.reader, p.done
	p.reader = nil
	p.mu.Unlock()
	if reader == nil {
		return
	}
	reader.Cancel()
	<-done
	reader.Close()
}

// Close ends the pump and the pipe.
func (p *Pump) Close() {
	p.Pause()
	p.feed.Close()
	p.keys.Close()
}

// run reads until it is cancelled or the terminal is gone.
func (p *Pump) run(from cancelreader.CancelReader, done chan struct{}) {
	defer close(done)
	chunks := make(chan []byte) // written by the goroutine below, which closes it
	stop := make(chan struct{})
	defer close(stop)
	var ended error
	go func() {
		defer close(chunks)
		for {
			buf := make([]byte, 4096)
			n, err := from.Read(buf)
			if n > 0 {
				select {
				case chunks <- buf[:n]:
				case <-stop:
					return
				}
			}
			if err != nil {
				ended = err // read after the close of chunks
				return
			}
		}
	}()
	var parser Parser
	for {
		var idle <-chan time.Time
		if parser.Pending() {
			idle = time.After(grace)
		}
		select {
		case b, more := <-chunks:
			if !more {
				p.deliver(parser.Idle())
				if !errors.Is(ended, cancelreader.ErrCanceled) {
					close(p.gone)
				}
				return
			}
			p.deliver(parser.Feed(b))
		case <-idle:
			p.deliver(parser.Idle())
		}
	}
}

func (p *Pump) deliver(events []Event) {
	for _, e := range events {
		switch {
		case e.Paste != nil:
			p.feed.WriteString(string(pasteStart) + p.keep(*e.Paste) + string(pasteEnd))
		case e.Background != "" || e.Attributes:
			select {
			case p.background <- e.Background:
			default: // nobody asks any more
			}
		default:
			p.feed.Write(e.Keys)
		}
	}
}

const token = "car-paste:"

// keep puts a paste aside and returns the token that stands for it among the keys.
func (p *Pump) keep(text string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next++
	p.pastes[p.next] = text
	return token + strconv.Itoa(p.next)
}

// Paste returns the text that a pasted token stands for, once. Every paste comes as a
// token, so a person who pastes what looks like one gets just that.
func (p *Pump) Paste(pasted string) (string, bool) {
	number, ok := strings.CutPrefix(pasted, token)
	n, err := strconv.Atoi(number)
	if !ok || err != nil {
		return "", false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	text, ok := p.pastes[n]
	delete(p.pastes, n)
	return text, ok
}

// Ask is what to write to a terminal to learn its background colour: the question,
// and one that every terminal answers, so that the wait ends early.
const Ask = "\x1b]11;?\x07\x1b[c"

// IsDark reports whether a colour as terminals write it ("rgb:ffff/ffff/ffff") is
// dark; ok is false where it can not be read.
func IsDark(colour string) (dark, ok bool) {
	parts := strings.Split(strings.TrimPrefix(strings.TrimPrefix(colour, "rgba:"), "rgb:"), "/")
	if len(parts) < 3 || !strings.HasPrefix(colour, "rgb") {
		return false, false
	}
	var light float64
	for i, weight := range []float64{0.299, 0.587, 0.114} {
		v, err := strconv.ParseUint(parts[i], 16, 16)
		if err != nil || parts[i] == "" {
			return false, false
		}
		light += weight * float64(v) / float64(uint64(1)<<(4*len(parts[i]))-1)
	}
	return light < 0.5, true
}
