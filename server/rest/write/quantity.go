package write

import (
	"bytes"
	stderrors "errors"

	"github.com/deed-project/deed/schema/form"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/kjson"
	"github.com/deed-project/deed/server/structsize"
	"github.com/deed-project/deed/value"
)

// costly returns the refusal of what would cost too much, 422, if err says that, and nil otherwise.
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
		return nil // which reading it says
	}
	_, err = v.Form.Complete(object)
	return costly(err)
}
