package logs

import (
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"
)

// Field is a value of a log line. Only this package can make one.
type Field struct{ attr slog.Attr }

// Name is the name of an object, a kind, a webhook, a user or a method, or a qualified name.
func Name(key constant, name string) Field { return Field{slog.String(string(key), name)} }

// Path is the path of a request, without the query.
func Path(path string) Field { return Field{slog.String("path", path)} }

// Code is an HTTP status code.
func Code(code int) Field { return Field{slog.Int("code", code)} }

// Fault is the error of a failure; see [Text].
func Fault(err error) Field { return Field{slog.String("error", Text(err))} }

// Stack is the stack of the calling goroutine.
func Stack() Field { return Field{slog.String("stack", string(debug.Stack()))} }

// Panic is the value of a panic. It shows the text of a runtime error, and of other values only the type, because a value may quote an
// object.
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
