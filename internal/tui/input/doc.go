// Package input stands between the terminal's keys and Bubble Tea's reader.
//
// What a terminal sends is keys, pastes and answers to questions, in one stream of
// bytes. The reader (v1.3.10) takes the end of a read for the end of a key, ends a
// paste at the first end marker, even one that was in the pasted text, and types an
// answer that comes too late into the input. Parser tells the three apart: a
// sequence split over two reads is put together, a paste ends at the last end marker
// of the burst it came in (B071), answers are taken out.
//
// Pump reads the terminal and feeds the reader through a pipe. A paste goes through
// it as a short token, in order with the keys, and is picked up whole by its number;
// so a large one costs no more than a small one. Pump stops reading while another
// process has the terminal.
//
// The package imports nothing of ours. Parser has one user; Pump is safe for
// concurrent use.
package input
