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

// hidden is said in place of what may hold secrets.
const hidden = "the reason may hold secrets, and is not shown without --show-secrets"

// errHidden stands for errors that are not shown.
var errHidden = errors.New(hidden)

// Valueless is an error whose text holds no value of an object but what says which object it is.
// Errors that the command itself makes may be such; a View shows them as they are.
type Valueless interface {
	error
	Valueless()
}

// Errorf returns an error that says what is wrong with no value of an object but what the arguments
// are: a View shows it as it is.
func Errorf(format string, args ...any) error { return &said{fmt.Sprintf(format, args...)} }

type said struct{ text string }

func (e *said) Error() string { return e.text }
func (e *said) Valueless()    {}

// Seen is an error that has paths or values of the object that it is about, and says what a View
// lets it.
type Seen interface {
	error
	Seen(View) string
}

// Error returns what err, an error about the object, says, as far as it may be shown.
func (v View) Error(err error) string {
	if err == nil {
		return ""
	}
	return v.Redact(err).Error()
}

// Status returns what a server answers where writing the object fails with err, as far as it may be
// shown.
func (v View) Status(err error) *Status {
	return (*Status)(managedfields.ToStatus(v.Redact(err)))
}

// Status is the answer of a server, as it may be shown. It is no error.
type Status managedfields.Status

// Redact returns err with what is secret masked. Errors that are not known are not shown: they
// may quote anything.
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

// sentinels are errors of the libraries whose texts are always the same.
var sentinels = []error{merge.ErrNoVersion, typed.ErrTypes, ownership.ErrVersion, ownership.ErrNoManager, yaml.ErrText, paths.UnknownKind()}

// defect returns e without values, if what it is about is secret or has a secret in it.
func (v View) defect(e *typed.Error) *typed.Error {
	if !v.HidesAt(e.Path) {
		return e
	}
	return &typed.Error{Path: v.path(e.Path), Reason: e.Reason, Detail: e.Redacted, Plain: e.Redacted, Redacted: e.Redacted}
}

// Defect returns what e, about the object, says is wrong, in words for people.
func (v View) Defect(e *typed.Error) string {
	e = v.defect(e)
	if len(e.Path) == 0 {
		return e.Plain
	}
	return v.Path(e.Path) + ": " + e.Plain
}

// conflicts returns cs with paths as they may be shown, and without values.
func (v View) conflicts(cs merge.Conflicts) merge.Conflicts {
	out := make(merge.Conflicts, len(cs))
	for i, c := range cs {
		out[i] = c
		out[i].Path, out[i].Live, out[i].Wanted = v.path(c.Path), value.Value{}, value.Value{}
	}
	return out
}

// Raw is a text that may hold values of an object. It shows nothing until a View opens it.
type Raw struct{ text string }

// RawText returns text, which a library says of an object.
func RawText(text string) Raw { return Raw{text} }

// String returns nothing of the text.
func (Raw) String() string { return hidden }

// Reason returns what raw says of path in the object, as far as it may be shown: nothing, if there
// is a secret at path.
func (v View) Reason(path fieldpath.Path, raw Raw) string {
	if v.HidesAt(path) {
		return hidden
	}
	return raw.text
}

// Panic returns what a function panicked with, as far as it may be shown: what the runtime of Go says.
// Whatever else there is may quote an object.
func (r *Rules) Panic(x any) string {
	if _, ok := x.(runtime.Error); ok || r != nil && r.Show {
		return fmt.Sprint(x)
	}
	return fmt.Sprintf("a panic with a %T, which --show-secrets shows", x)
}
