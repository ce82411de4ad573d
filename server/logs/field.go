package logs

import (
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"
)

// Field is something that a line of the log says. Only this package makes one.
type Field struct{ attr slog.Attr }

// Name is the name of something: an object, a kind, a webhook, a user, a method, or a key that is a qualified name.
func Name(key constant, name string) Field { return Field{slog.String(string(key), name)} }

// Path is the path of a request, without the query.
func Path(path string) Field { return Field{slog.String("path", path)} }

// Code is a code of HTTP.
func Code(code int) Field { return Field{slog.Int("code", code)} }

// Fault says what failed: see [Text].
func Fault(err error) Field { return Field{slog.String("error", Text(err))} }

// Stack says where the calling function is.
func Stack() Field { return Field{slog.String("stack", string(debug.Stack()))} }

// Panic says with what a function panicked: the words of Go's runtime, and of everything else only its type, as it may quote an object.
func Panic(v any) Field {
	text := fmt.Sprintf("%T", v)
	if t := reflect.TypeOf(v); t != nil {
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.PkgPath() == "runtime" {
			text = fmt.Sprint(v)
		}
	}
	return Field{slog.String("panic", text)}
}
