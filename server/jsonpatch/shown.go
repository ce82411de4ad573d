package jsonpatch

import (
	"bytes"
	"errors"
	"slices"

	library "gopkg.in/evanphx/json-patch.v4"
)

// Refusals quote the outcome of a patch as a text. Its objects have their members in the order of the document where no patch led into
// them, and by name where one did. Package value has no such order, so these functions leave the work to the library.

// maxShown bounds the bytes that a patch may make the library copy: it copies what is below each step of a path.
const maxShown = 64 << 20

var errTooLong = errors.New("the patch copies the document too often")

// Outcome returns the text that the library makes of a document with a JSON patch. The patch must be one that [Apply] has carried out. The
// error says that this might take long: each step of each path counts as a copy of the largest document that the operations may make.
func Outcome(document, patch []byte) ([]byte, error) {
	operations, err := Decode(patch)
	if err != nil {
		return nil, err
	}
	largest := len(document) + len(patch)
	if slices.ContainsFunc(operations, func(o library.Operation) bool { return o.Kind() == "copy" }) {
		largest += MaxCopied
	}
	if (len(operations)+bytes.Count(patch, []byte("/")))*largest > maxShown {
		return nil, errTooLong
	}
	return operations.Apply(document)
}

// MergeOutcome is Outcome for a merge patch, in which each level counts as a copy of both texts.
func MergeOutcome(document, patch []byte) ([]byte, error) {
	if bytes.Count(patch, []byte("{"))*(len(document)+len(patch)) > maxShown {
		return nil, errTooLong
	}
	return library.MergePatch(document, patch)
}
