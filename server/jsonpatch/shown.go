package jsonpatch

import (
	"errors"

	library "gopkg.in/evanphx/json-patch.v4"
)

// Refusals quote the outcome of a patch as a text. Its objects have their members in the order of the document where no patch led into
// them, and by name where one did. Package value has no such order, so these functions leave the work to the library.

// maxShown bounds the bytes that the operations of a patch make the library copy.
const maxShown = 64 << 20

var errTooLong = errors.New("the patch copies the document too often")

// Outcome returns the text that the library makes of a document with a JSON patch. The patch must be one that [Apply] has carried out. The
// error says that this would take long.
func Outcome(document, patch []byte) ([]byte, error) {
	operations, err := Decode(patch)
	if err != nil {
		return nil, err
	}
	if len(operations)*len(document) > maxShown {
		return nil, errTooLong
	}
	return operations.Apply(document)
}

// MergeOutcome is Outcome for a merge patch.
func MergeOutcome(document, patch []byte) ([]byte, error) { return library.MergePatch(document, patch) }
