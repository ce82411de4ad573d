// Package logs writes the log of the server; no other package does. No object, credential, header, query or webhook answer can get into it.
// A [Logger] takes constant messages, and [Field] values that only this package makes.
//
// Fields hold names, paths, codes and users. Of an error they hold only parts that quote no object: see [Fault].
package logs

import (
	"context"
	"log"
	"log/slog"
	"strings"
)

// Logger writes the log of a server. The zero Logger writes nothing. It is safe for concurrent use.
type Logger struct{ to *slog.Logger }

// New returns a Logger that writes to l.
func New(l *slog.Logger) Logger { return Logger{l} }

// constant is a constant text of the program. Other packages cannot name the type, so they can only pass untyped constants.
type constant string

// Error logs a failure of the server.
func (l Logger) Error(message constant, fields ...Field) { l.write(slog.LevelError, message, fields) }

// Warn logs a state that the operator may not want.
func (l Logger) Warn(message constant, fields ...Field) { l.write(slog.LevelWarn, message, fields) }

// Info logs an event that the operator may look for.
func (l Logger) Info(message constant, fields ...Field) { l.write(slog.LevelInfo, message, fields) }

// Debug logs details that are off by default.
func (l Logger) Debug(message constant, fields ...Field) { l.write(slog.LevelDebug, message, fields) }

func (l Logger) write(level slog.Level, message constant, fields []Field) {
	if l.to == nil || !l.to.Enabled(context.Background(), level) {
		return
	}
	attrs := make([]slog.Attr, len(fields))
	for i, f := range fields {
		attrs[i] = f.attr
	}
	l.to.LogAttrs(context.Background(), level, string(message), attrs...)
}

// Debugs reports whether Debug has any effect.
func (l Logger) Debugs(ctx context.Context) bool {
	return l.to != nil && l.to.Enabled(ctx, slog.LevelDebug)
}

// HTTP returns a logger for [net/http.Server.ErrorLog]. Lines of net/http quote clients and panics, so the logger keeps only the begin of a
// line, which says what failed.
func (l Logger) HTTP() *log.Logger { return log.New(httpLines{l}, "", 0) }

// httpLines is an io.Writer for the lines of net/http.
type httpLines struct{ to Logger }

// whole lists beginnings of lines that quote no client data, and are kept as a whole.
var whole = []string{"http: TLS handshake error from ", "http: Accept error: "}

// Write logs a line.
func (h httpLines) Write(line []byte) (int, error) {
	text, _, _ := strings.Cut(string(line), "\n")
	known := false
	for _, beginning := range whole {
		known = known || strings.HasPrefix(text, beginning)
	}
	if first, rest, found := strings.Cut(text, ": "); found && !known {
		words := strings.Fields(rest)
		text = first + ": " + strings.Join(words[:min(2, len(words))], " ") + " …"
	}
	h.to.Debug("net/http reports", Field{slog.String("what", text)})
	return len(line), nil
}
