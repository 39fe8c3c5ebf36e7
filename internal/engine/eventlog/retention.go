package eventlog

import "time"

// trim drops what retention no longer keeps. The caller holds mu.
func (l *Log) trim(now time.Time) {
	drop := 0
	if l.cfg.MaxEvents > 0 {
		drop = max(0, len(l.events)-l.cfg.MaxEvents)
	}
	if l.cfg.MaxAge > 0 {
		oldest := now.Add(-l.cfg.MaxAge)
		for drop < len(l.events) && l.events[drop].Timestamp.Before(oldest) {
			drop++
		}
	}
	l.events = l.events[drop:]
	if l.file != nil {
		l.file.keep(len(l.events), l.moveBase)
	}
}
