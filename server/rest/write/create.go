package write

import (
	stderrors "errors"
	"net/http"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// nameAttempts is how many names the server generates for an object before it gives up.
const nameAttempts = 8

// Create carries out POST.
//
//	media     that the body is in
//	options   of the query
//	decode    the object, with its defaults
//	identify  its namespace and name
//	own       everything in it is the manager's
//	mutate    what admission makes of it
//	store     under a name that is generated if there is none
func (r *Request) Create() (*read.Answer, error) {
	if _, err := wire.BodyMedia(r.HTTP, r.Offer()); err != nil {
		return nil, err
	}
	options, err := api.ParseCreateOptions(r.Query)
	if err != nil {
		return nil, err
	}
	object, err := r.decode(options, read.Live{})
	if err != nil {
		return nil, err
	}
	if err := r.checkSize(object); err != nil {
		return nil, err
	}
	decoded := object.Content
	object.Content = api.Wipe(object.Content)
	if object.Content, err = api.InNamespace(object.Content, r.Target.Namespace); err != nil {
		return nil, err
	}
	object.Content = r.withoutRepeatedOwners(object.Content)
	if object, err = r.update(read.Live{}, object, options); err != nil {
		return nil, err
	}
	r.ObjectName = api.Meta(object.Content, "name")
	w := &write{Request: r, dryRun: options.DryRun, create: true, post: true}
	if form, ok := r.Version.Form.(catalog.Sparing); ok && form.Settles() && r.StoresItself() {
		w.known = decoded
	}
	if object, err = w.mutate(read.Live{}, object); err != nil {
		return nil, err
	}
	object, err = w.createNamed(object)
	if err != nil {
		return nil, err
	}
	return w.answer(http.StatusCreated, object), nil
}

// createNamed stores a new object under its name, or under one that is generated. The error is a 409 if the name is taken. Of an object that
// could have had a name generated it says that, even if it had one.
func (w *write) createNamed(object managedfields.Object) (managedfields.Object, error) {
	prefix := api.Meta(object.Content, "generateName")
	generate := prefix != "" && api.Meta(object.Content, "name") == ""
	var err error
	for range nameAttempts {
		named := object
		if w.named = generate; generate {
			named.Content = api.WithMetadata(object.Content, "name", value.String(generateName(prefix)))
		}
		var created managedfields.Object
		if created, err = w.createOnce(named); !errors.IsAlreadyExists(err) || prefix == "" {
			return created, err
		}
		if !generate {
			break
		}
	}
	return object, generatedNameTaken(err)
}

// createOnce stores a new object under its name.
func (w *write) createOnce(object managedfields.Object) (managedfields.Object, error) {
	w.ObjectName = api.Meta(object.Content, "name")
	created, err := w.storeNew(object)
	if err == nil && w.dryRun {
		if live, loadErr := w.Load(); loadErr == nil && live.Exists() {
			err = store.ErrConflict
		}
	}
	if stderrors.Is(err, store.ErrConflict) {
		return created, w.alreadyExists()
	}
	return created, err
}

// alreadyExists is the 409 of a name that is taken. It tells when what has it is about to go.
func (w *write) alreadyExists() error {
	err := errors.NewAlreadyExists(w.Version.GroupResource(), w.ObjectName)
	live, loadErr := w.Load()
	if loadErr == nil && !live.Content.Get("metadata", "deletionTimestamp").IsAbsent() {
		err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
	}
	return err
}

// generatedNameTaken adds to the error of a name that is taken that it is of an object whose name could have been generated.
func generatedNameTaken(last error) error {
	var taken *errors.StatusError
	if !stderrors.As(last, &taken) {
		return last
	}
	taken.ErrStatus.Message += ", the server was not able to generate a unique name for the object"
	taken.ErrStatus.Details.RetryAfterSeconds = 1
	taken.ErrStatus.Reason = metav1.StatusReasonAlreadyExists
	return taken
}
