package write

import (
	stderrors "errors"
	"fmt"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/rest/read"
)

// DefaultMaxObject is how many bytes a write of one object to the store may have, as in a kube-apiserver on an etcd without --max-request-bytes.
const DefaultMaxObject = 3 << 19

const (
	// maxMessage is how many bytes an etcd client sends at most, unless objects may be larger.
	maxMessage = 2 << 20
	// What a write to etcd holds beside the text: the key several times, and bytes around it. A new object has one precondition less.
	createKeys, createMore = 2, 40
	updateKeys, updateMore = 3, 46
	messageMore            = 25
)

var errTooLarge = stderrors.New("etcdserver: request is too large")

// fits refuses, in the words of kube-apiserver, a text that is too large to be stored.
func (r *Request) fits(key string, text []byte, isNew bool) error {
	keys, more := updateKeys, updateMore
	if isNew {
		keys, more = createKeys, createMore
	}
	size, most := len(text)+len("\n")+keys*len(key), r.maxObject()
	if size+more <= most {
		return nil
	}
	if message := size + messageMore; message > max(maxMessage, most) {
		return fmt.Errorf("rpc error: code = ResourceExhausted desc = trying to send message larger than max (%d vs. %d)", message, max(maxMessage, most))
	}
	return errTooLarge
}

func (r *Request) maxObject() int {
	if r.MaxObject == 0 {
		return DefaultMaxObject
	}
	return r.MaxObject
}

// fitted returns an object as it can be stored in place of live. Managed fields of one that is too large are left out, as kube-apiserver does:
// but for an apply, which is refused.
func (w *write) fitted(object encoded, live read.Live) (encoded, error) {
	isNew := live.Record.Revision == 0
	err := w.fits(w.Key(), object.text, isNew)
	if err == nil || w.applies || len(object.Entries) == 0 {
		return object, err
	}
	bare := object.Object
	bare.Entries = nil
	if object, err = w.encode(bare); err != nil {
		return object, err
	}
	return object, w.fits(w.Key(), object.text, isNew)
}

// checkSize refuses an object that copies and defaults made more than twice as large as one may be that is stored, before anything else looks
// at it. Validation may still find something wrong with a smaller one, and admission take away from it.
func (r *Request) checkSize(object managedfields.Object) error {
	if storage.LongerThan(object.Content, 2*max(r.maxObject(), DefaultMaxObject)) {
		return errTooLarge
	}
	return nil
}
