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

// Bounds on the size of what is written. Three bounds meet an object on its way, and each has its own answer:
//
//	body       MaxBody            413, before anything is decoded
//	object     2 * MaxObject      500, before admission: see checkSize
//	text       MaxObject          500, in the words of etcd: see fits
//
// Other bounds, on the cost of decoding, answer 422: see costly.

// DefaultMaxObject is how many bytes a write of one object to the store may have, as in a kube-apiserver on an etcd without --max-request-bytes.
const DefaultMaxObject = 3 << 19

const (
	// maxMessage is how many bytes an etcd client sends at most, unless objects may be larger.
	maxMessage = 2 << 20
	// What a write to etcd holds beside the text: the key several times, and bytes around it. A create names the key once less: it
	// has no revision to compare.
	createKeys, createMore = 2, 40
	updateKeys, updateMore = 3, 46
	messageMore            = 25
)

var errTooLarge = stderrors.New("etcdserver: request is too large")

// fits refuses a text that is too large to be stored. The errors are those of kube-apiserver, which has two of them. etcd refuses a request
// beyond its own bound, and the etcd client does not send a message beyond the client's bound. Both sizes count the whole transaction: it
// names the key in its precondition, in the put, and for an update in the get of the failed branch. The newline is the one that
// kube-apiserver's JSON encoder appends.
func (w *Writer) fits(key string, text []byte, isNew bool) error {
	keys, more := updateKeys, updateMore
	if isNew {
		keys, more = createKeys, createMore
	}
	// The client checks its bound first. So its error wins if both bounds are exceeded.
	size, most := len(text)+len("\n")+keys*len(key), w.maxObject()
	if size+more <= most {
		return nil
	}
	if message := size + messageMore; message > max(maxMessage, most) {
		return fmt.Errorf("rpc error: code = ResourceExhausted desc = trying to send message larger than max (%d vs. %d)", message, max(maxMessage, most))
	}
	return errTooLarge
}

// maxObject returns MaxObject or its default.
func (w *Writer) maxObject() int {
	if w.MaxObject == 0 {
		return DefaultMaxObject
	}
	return w.MaxObject
}

// checkSize refuses an object that is more than twice as large as a stored object may be, before admission and validation see it. Copies in a
// patch, and defaults, can make an object that large. A smaller object may still become valid: admission may remove some of it.
//
// The factor leaves room for what encode drops and for what admission may remove. The size is counted only until the bound is passed.
func (w *Writer) checkSize(object managedfields.Object) error {
	if storage.LongerThan(object.Content, 2*max(w.maxObject(), DefaultMaxObject)) {
		return errTooLarge
	}
	return nil
}

// costly returns a 422 if err says that an object would cost too much, and nil otherwise.
// Callers ask costly before they wrap an error of decoding into a 400, so that the 422 takes its place.
func costly(err error) error {
	for _, bound := range []error{form.ErrQuantityLength, form.ErrQuantityPower, kjson.ErrPaths, structsize.ErrSize} {
		if stderrors.Is(err, bound) {
			return api.TooCostly(bound.Error())
		}
	}
	return nil
}

// costlyNumber returns why a JSON text may have a quantity that costs too much to read, nil if it has none: a string begins with a number of
// more digits than a quantity may have, or is a number with a power of ten of five digits. The Go types of built-in kinds read all quantities
// in a text, also one that is replaced by a later member with the same name.
func costlyNumber(text []byte) error {
	const digits = "0123456789."
	for {
		quote := bytes.IndexByte(text, '"')
		if quote < 0 {
			return nil
		}
		text = bytes.TrimLeft(text[quote+1:], " +-")
		rest := bytes.TrimLeft(text, digits)
		// A sign and a suffix also count to the length of a quantity.
		switch {
		case len(text)-len(rest) > form.MaxQuantity-len("-Ki"):
			return form.ErrQuantityLength
		case len(rest) < len(text) && isLargePower(rest):
			return form.ErrQuantityPower
		}
		text = rest
	}
}

// isLargePower reports whether text begins with a power of ten of five digits or more, at the end of a string.
func isLargePower(text []byte) bool {
	if len(text) == 0 || text[0]|0x20 != 'e' {
		return false
	}
	power := bytes.TrimLeft(text[1:], "+-0")
	rest := bytes.TrimLeft(power, "0123456789")
	return len(power)-len(rest) >= 5 && bytes.HasPrefix(bytes.TrimLeft(rest, " "), []byte{'"'})
}

// checkQuantities refuses an object with a quantity that is too long for its Go type to read.
// Only a text with a suspicious string is parsed again, so an ordinary object costs one scan. A long number in a plain string is no fault:
// Complete knows which members are quantities.
func checkQuantities(v *catalog.Version, text []byte) error {
	if costlyNumber(text) == nil {
		return nil
	}
	object, err := value.Parse(text)
	if err != nil {
		return nil // decoding reports the error
	}
	_, err = v.Form.Complete(object)
	return costly(err)
}
