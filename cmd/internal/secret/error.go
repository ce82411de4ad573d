package secret

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"syscall"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/schema/form"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// hidden replaces texts that may contain secrets.
const hidden = "the reason may hold secrets, and is not shown without --show-secrets"

// errHidden replaces errors that are not shown.
var errHidden = errors.New(hidden)

// Valueless is an error whose text has no value of an object except its identity. Errors of the command itself may implement it; a View
// shows them unchanged.
type Valueless interface {
	error
	Valueless()
}

// Errorf returns an error that a View shows unchanged. Its arguments must not contain hidden values of an object.
func Errorf(format string, args ...any) error { return &plainError{fmt.Sprintf(format, args...)} }

type plainError struct{ text string }

func (e *plainError) Error() string { return e.text }
func (e *plainError) Valueless()    {}

// Seen is an error with paths or values of its object. It masks its text with a View.
type Seen interface {
	error
	Seen(View) string
}

// Error returns the masked text of err, an error about the object.
func (v View) Error(err error) string {
	if err == nil {
		return ""
	}
	return v.Redact(err).Error()
}

// Status returns the masked answer of a server to a write of the object that fails with err.
func (v View) Status(err error) *Status {
	return (*Status)(managedfields.ToStatus(v.Redact(err)))
}

// Status is the masked answer of a server. It is not an error.
type Status managedfields.Status

// Redact returns err with secrets masked. Errors of unknown types are hidden, because they may quote anything.
func (v View) Redact(err error) error {
	if e := Seen(nil); errors.As(err, &e) {
		return Errorf("%s", e.Seen(v))
	}
	if v.open || err == nil {
		return err
	}
	switch e := err.(type) {
	case Valueless, *fs.PathError, *os.LinkError, *os.SyscallError, syscall.Errno:
		return err
	case *yaml.Error:
		return Errorf("%s", withoutKeys(e.Error()))
	case typed.Errors:
		out := make(typed.Errors, len(e))
		for i, one := range e {
			out[i] = v.defect(one)
		}
		return out
	case *typed.Error:
		return v.defect(e)
	case merge.Conflicts:
		return v.conflicts(e)
	case *managedfields.TypeError:
		out := *e
		out.Err = v.Redact(e.Err)
		return &out
	case *managedfields.EntryError:
		return &managedfields.EntryError{Index: e.Index, Manager: e.Manager, Err: v.Redact(e.Err)}
	case *managedfields.BadRequestError:
		if e.Err == nil {
			return e
		}
		return &managedfields.BadRequestError{Reason: v.Error(e.Err)}
	case *fieldpath.SyntaxError:
		return Errorf("invalid %s at byte %d", e.What, e.Offset)
	case *form.Error:
		if !v.HidesAt(e.Path) {
			return e
		}
		return Errorf("%s: the value does not fit into the Go type of the field", v.Path(e.Path))
	case interface{ Unwrap() []error }:
		var all []error
		for _, one := range e.Unwrap() {
			all = append(all, v.Redact(one))
		}
		return errors.Join(all...)
	}
	for _, known := range sentinels {
		if err == known {
			return err
		}
	}
	if inner := errors.Unwrap(err); inner != nil {
		return v.Redact(inner)
	}
	return errHidden
}

// sentinels holds the errors of the libraries with constant texts.
var sentinels = []error{merge.ErrNoVersion, typed.ErrTypes, ownership.ErrVersion, ownership.ErrNoManager, yaml.ErrText, paths.UnknownKind()}

// defect returns e without values, if its path leads to a secret or to a value with secrets.
func (v View) defect(e *typed.Error) *typed.Error {
	if !v.HidesAt(e.Path) {
		return e
	}
	return &typed.Error{Path: v.path(e.Path), Reason: e.Reason, Detail: e.Redacted, Plain: e.Redacted, Redacted: e.Redacted}
}

// Defect returns the text of e, a defect of the object, in plain words.
func (v View) Defect(e *typed.Error) string {
	e = v.defect(e)
	if len(e.Path) == 0 {
		return e.Plain
	}
	return v.Path(e.Path) + ": " + e.Plain
}

// conflicts returns cs with masked paths and without values.
func (v View) conflicts(cs merge.Conflicts) merge.Conflicts {
	out := make(merge.Conflicts, len(cs))
	for i, c := range cs {
		out[i] = c
		out[i].Path, out[i].Live, out[i].Wanted = v.path(c.Path), value.Value{}, value.Value{}
	}
	return out
}

// Raw is a text that may contain values of an object. It shows nothing until a View opens it.
type Raw struct{ text string }

// RawText returns text, a library's text about an object, as Raw.
func RawText(text string) Raw { return Raw{text} }

// String returns a fixed text and nothing of the content.
func (Raw) String() string { return hidden }

// Reason returns the text of raw about path in the object, or a fixed text if there is a secret at path.
func (v View) Reason(path fieldpath.Path, raw Raw) string {
	if v.HidesAt(path) {
		return hidden
	}
	return raw.text
}

// Panic returns the text of a panic if the Go runtime raised it. Other panics may quote an object, so it returns only their type.
func (r *Rules) Panic(x any) string {
	if _, ok := x.(runtime.Error); ok || r != nil && r.Show {
		return fmt.Sprint(x)
	}
	return fmt.Sprintf("a panic with a %T, which --show-secrets shows", x)
}
