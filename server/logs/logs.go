// Package logs is the only way in which the server writes its log. No object, credential, header, query or answer of a webhook can pass
// through it: a [Logger] takes messages that are constants, and [Field] values that only this package makes.
//
// A field shows names, paths, codes and users. Of an error it shows what package logs knows to quote nothing: see [Fault].
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

// constant is a text of the program. Other packages cannot name the type, so they can pass constants alone.
type constant string

// Error writes a failure of the server.
func (l Logger) Error(message constant, fields ...Field) { l.write(slog.LevelError, message, fields) }

// Warn writes what may not be as the user of the server wants it.
func (l Logger) Warn(message constant, fields ...Field) { l.write(slog.LevelWarn, message, fields) }

// Info writes what a user of the server may look for.
func (l Logger) Info(message constant, fields ...Field) { l.write(slog.LevelInfo, message, fields) }

// Debug writes what is shown only if somebody asks for more.
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

// Debugs reports whether Debug writes anything.
func (l Logger) Debugs(ctx context.Context) bool {
	return l.to != nil && l.to.Enabled(ctx, slog.LevelDebug)
}

// HTTP returns a logger for [net/http.Server.ErrorLog]. net/http quotes clients and panics in its lines, so only the beginning of a line
// is kept, which says what failed.
func (l Logger) HTTP() *log.Logger { return log.New(httpLines{l}, "", 0) }

// httpLines takes the lines of net/http: io.Writer.
type httpLines struct{ to Logger }

// whole are the beginnings of lines that quote no client.
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
