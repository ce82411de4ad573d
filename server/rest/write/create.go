package write

import (
	"crypto/rand"
	stderrors "errors"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/rest"
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
//
// The media type is checked before the options, and both before the body is read: a request with several faults gets the error that
// kube-apiserver finds first. Mutating admission comes before the name is generated, since it may set the name or the prefix. It runs once,
// whereas validation, validating admission and the put run again for each generated name.
func (w *Writer) Create(q *rest.Request) (*rest.Answer, error) {
	if _, err := wire.BodyMedia(q.HTTP, q.Offer()); err != nil {
		return nil, err
	}
	options, err := api.ParseCreateOptions(q.Query)
	if err != nil {
		return nil, err
	}
	none := &read.Live{}
	object, err := Decode(q, options, none)
	if err != nil {
		return nil, err
	}
	if err := w.checkSize(object); err != nil {
		return nil, err
	}
	// Note the body as it was decoded, before metadata changes. reread compares the stored object with it; see Task.decoded.
	decoded := object.Content
	if object, err = ownNew(q, none, object, options); err != nil {
		return nil, err
	}
	q.ObjectName = api.Meta(object.Content, "name")
	t := &Task{Writer: w, Request: q, DryRun: options.DryRun, create: true, post: true, asked: q.ObjectName}
	if form, ok := q.Version.Form.(catalog.IncrementalForm); ok && form.DecodesSettled() && t.view().StoresItself() {
		t.decoded = decoded
	}
	if object, err = t.Mutate(none, object); err != nil {
		return nil, err
	}
	created, err := t.createNamed(object)
	if err != nil {
		return nil, err
	}
	return created.answer(), nil
}

// ownNew returns a new object in the namespace of the request, without metadata that only the server sets. The manager owns everything in
// it. none is the zero read.Live, one for the whole create, since it is large and would stand in each frame.
//
// Metadata that only the server sets is wiped first, so that no manager owns it.
func ownNew(q *rest.Request, none *read.Live, object managedfields.Object, options api.WriteOptions) (_ managedfields.Object, err error) {
	if object.Content, err = api.InNamespace(api.Wipe(object.Content), q.Target.Namespace); err != nil {
		return object, err
	}
	object.Content = withoutRepeatedOwners(q, object.Content)
	return Own(q, none, object, options)
}

// createNamed stores a new object under its name, or under a generated name. The error is a 409 if the name is taken. The text of the 409
// speaks of a generated name if the object has a prefix for one, even if it also has a name.
func (t *Task) createNamed(object managedfields.Object) (Outcome, error) {
	prefix := api.Meta(object.Content, "generateName")
	t.named = prefix != "" && api.Meta(object.Content, "name") == ""
	var err error
	// A generated name may be taken by chance. A name that the client chose is tried once.
	for range nameAttempts {
		named := object
		if t.named {
			named.Content = api.WithMetadata(object.Content, "name", value.String(t.generated(prefix)))
		}
		var created Outcome
		// Without a prefix, a 409 is final. With one, it leads to the next name or to the text about generated names.
		if created, err = t.createOnce(named); !errors.IsAlreadyExists(err) || prefix == "" {
			return created, err
		}
		if !t.named {
			break
		}
	}
	return Outcome{}, generatedNameTaken(err)
}

// createOnce stores a new object under its name.
func (t *Task) createOnce(object managedfields.Object) (Outcome, error) {
	t.Request.ObjectName = api.Meta(object.Content, "name")
	created, err := t.storeNew(object)
	if stderrors.Is(err, store.ErrConflict) {
		return created, t.alreadyExists()
	}
	return created, err
}

// alreadyExists returns the 409 of a name that is taken. It says so if the object that has the name is being deleted.
//
// The object may be gone when it is looked up. Then the plain 409 is still true of the moment in which the write failed.
func (t *Task) alreadyExists() error {
	err := errors.NewAlreadyExists(t.Request.Version.GroupResource(), t.Request.ObjectName)
	live, loadErr := t.Writer.Reader.Load(t.Request)
	if loadErr == nil && !live.Content.Get("metadata", "deletionTimestamp").IsAbsent() {
		err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
	}
	return err
}

// generatedNameTaken adds to the 409 of a name that is taken that the server could not generate a unique one.
//
// It changes the error that it is given, which must not be shared. Clients that see retryAfterSeconds send the request again.
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

const (
	maxPrefix = 58 // bytes of metadata.generateName that a generated name keeps
	suffixLen = 5
	// letters of generated names: none that make words or are easily taken for another. There are 27 of them.
	letters = "bcdfghjklmnpqrstvwxz2456789"
)

// generated returns a name that begins with prefix, as the resource has it.
func (t *Task) generated(prefix string) string {
	if t.Request.Version.PrefixAsName {
		return prefix
	}
	return generateName(prefix)
}

// generateName returns a name that begins with prefix and ends at random.
//
// 58 bytes of prefix and 5 of suffix make the 63 bytes of a DNS label. The prefix is cut by bytes, as in kube-apiserver.
func generateName(prefix string) string {
	suffix := make([]byte, suffixLen)
	rand.Read(suffix) // never fails, see package crypto/rand
	for i, b := range suffix {
		suffix[i] = letters[int(b)%len(letters)]
	}
	return prefix[:min(len(prefix), maxPrefix)] + string(suffix)
}
