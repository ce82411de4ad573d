package write

import (
	"bytes"
	stderrors "errors"
	"fmt"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema/form"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/kjson"
	"github.com/deed-project/deed/server/structsize"
	"github.com/deed-project/deed/value"
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

// fits refuses a text that is too large to be stored. The errors are those of kube-apiserver.
func (w *Writer) fits(key string, text []byte, isNew bool) error {
	keys, more := updateKeys, updateMore
	if isNew {
		keys, more = createKeys, createMore
	}
	size, most := len(text)+len("\n")+keys*len(key), w.maxObject()
	if size+more <= most {
		return nil
	}
	if message := size + messageMore; message > max(maxMessage, most) {
		return fmt.Errorf("rpc error: code = ResourceExhausted desc = trying to send message larger than max (%d vs. %d)", message, max(maxMessage, most))
	}
	return errTooLarge
}

func (w *Writer) maxObject() int {
	if w.MaxObject == 0 {
		return DefaultMaxObject
	}
	return w.MaxObject
}

// checkSize refuses an object that is more than twice as large as a stored object may be, before admission and validation see it. Copies in a
// patch, and defaults, can make an object that large. A smaller object may still become valid: admission may remove some of it.
func (w *Writer) checkSize(object managedfields.Object) error {
	if storage.LongerThan(object.Content, 2*max(w.maxObject(), DefaultMaxObject)) {
		return errTooLarge
	}
	return nil
}

// costly returns a 422 if err says that an object would cost too much, and nil otherwise.
func costly(err error) error {
	for _, bound := range []error{form.ErrQuantityLength, kjson.ErrPaths, structsize.ErrSize} {
		if stderrors.Is(err, bound) {
			return api.TooCostly(bound.Error())
		}
	}
	return nil
}

// hasLongNumber reports whether a JSON text has a string that begins with a number of more digits than a quantity may have. The Go types of
// built-in kinds read all quantities in a text, also one that is replaced by a later member with the same name.
func hasLongNumber(text []byte) bool {
	const digits = "0123456789."
	for len(text) > form.MaxQuantity {
		quote := bytes.IndexByte(text, '"')
		if quote < 0 {
			return false
		}
		text = bytes.TrimLeft(text[quote+1:], " +-")
		rest := bytes.TrimLeft(text, digits)
		if len(text)-len(rest) > form.MaxQuantity-len("-Ki") {
			return true
		}
		text = rest
	}
	return false
}

// checkQuantities refuses an object with a quantity that is too long for its Go type to read.
func checkQuantities(v *catalog.Version, text []byte) error {
	if !hasLongNumber(text) {
		return nil
	}
	object, err := value.Parse(text)
	if err != nil {
		return nil // decoding reports the error
	}
	_, err = v.Form.Complete(object)
	return costly(err)
}
