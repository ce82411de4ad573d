package read

import (
	stderrors "errors"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// load returns the stored object of the request, the zero Live if there is none.
func (r *View) Load() (Live, error) {
	record, err := r.Store.Get(r.Context(), r.Key(), 0)
	if stderrors.Is(err, store.ErrNotFound) {
		return Live{}, nil
	}
	if err != nil {
		return Live{}, err
	}
	o, err := r.read(record)
	if err != nil {
		return Live{}, err
	}
	return o.Live, nil
}

// mustLoad is load for requests that need an object: it is a 404 if there is none.
func (r *View) MustLoad() (Live, error) {
	live, err := r.Load()
	if err == nil && !live.Exists() {
		err = r.NotFound()
	}
	return live, err
}

func (r *View) NotFound() error { return errors.NewNotFound(r.Version.GroupResource(), r.ObjectName) }

// shown returns a record as the version of the request shows it.
func (r *View) Shown(record store.Record) (Live, error) {
	stored, err := managedfields.ParseObject(record.Text)
	if err != nil {
		return Live{}, Corrupt(record, err)
	}
	if stored.Content, err = catalog.Load(r.Version.Form, stored); err != nil {
		return Live{}, Corrupt(record, err)
	}
	stored.Content = WithVersion(stored.Content, record.Revision)
	return Live{Object: stored, Record: record}, nil
}

// settled returns the content of an object if reading what is stored of it gives just that, and absent otherwise. What another object has of
// it, the same storage in the same place, need not be read again.
func (l Live) SettledContent() value.Value {
	if !l.Settled {
		return value.Value{}
	}
	return l.Content
}

// storesItself reports whether objects are stored as the version has them: nothing converts them.
func (r *View) StoresItself() bool {
	_, foreign := r.Version.Form.(catalog.Batch)
	return !foreign && r.Version.Name == r.Version.Stored
}

// loadBeside returns a stored object as the version shows it, given one that is settled, absent for none.
func (r *View) LoadBeside(stored managedfields.Object, settled value.Value) (value.Value, error) {
	if form, ok := r.Version.Form.(catalog.Sparing); ok && !settled.IsAbsent() {
		return form.LoadBeside(stored.Content, settled)
	}
	return catalog.Load(r.Version.Form, stored)
}

// unreadable is the error of a stored object that cannot be read, as kube-apiserver says it to who reads. Who writes is told why.
type unreadable struct {
	*errors.StatusError
	why error
}

// whyUnreadable returns err, or why what is stored cannot be read, if that is it.
func WhyUnreadable(err error) error {
	var u *unreadable
	if stderrors.As(err, &u) {
		return u.why
	}
	return err
}

// corrupt returns the error of a record.
func Corrupt(record store.Record, err error) error {
	why := Undecodable(record.Revision, err)
	key := strings.TrimPrefix(record.Key, "/registry")
	return &unreadable{errors.NewInternalError(fmt.Errorf(
		"StorageError: corrupt object, Code: 7, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: %w", key, why)), why}
}

// undecodable says why an object of a revision cannot be read. It is no Status, whatever err is.
func Undecodable(revision store.Revision, err error) error {
	return fmt.Errorf("object not decodable revision=%d: %v", revision, err)
}

// withVersion returns content with the resource version that a revision stands for, and without one for revision 0.
func WithVersion(content value.Value, revision store.Revision) value.Value {
	if revision == 0 {
		return api.WithMetadata(content, "resourceVersion", value.Value{})
	}
	return api.WithMetadata(content, "resourceVersion", value.String(strconv.FormatInt(int64(revision), 10)))
}

// answer returns an object as the answer to the request.
func NewAnswer(code int, object managedfields.Object) *Answer {
	return &Answer{Code: code, Object: object, Converted: true}
}

// document returns an answer that is no object of the resource.
func NewDocument(code int, content value.Value) *Answer {
	return &Answer{Code: code, Object: managedfields.Object{Content: content}}
}
