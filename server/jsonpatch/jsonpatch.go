package jsonpatch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	library "gopkg.in/evanphx/json-patch.v4"

	"github.com/deed-project/deed/value"
)

// Carrying out the operations of a JSON patch. The library turns the document to text and back for each level that a path leads through.
// Here a draft is a tree of nodes that is opened only along the paths of the operations:
//
//	document   {a: {b: 1, c: 2}, d: [...]}
//	replace    /a/b
//	draft      members{now: {a: members{now: {b: 3}, were: {b: 1, c: 2}}}, were: {a: ..., d: [...]}}
//
// What no path leads into stays the original value, so the outcome shares it and the cost follows the patch.
//
// The texts of errors are the library's: each operation fails in its words.

// MaxCopied bounds the bytes that the copy operations of a patch add, as in kube-apiserver.
const MaxCopied = 3 << 20

// MaxSplit bounds the bytes of written values that later paths lead through, counted once per level.
const MaxSplit = 16 << 20

// Bound reports whether err says that Apply or Text exceeded a bound of cost.
//
// Such an error is answered with 422.
func Bound(err error) bool {
	var copied *library.AccumulatedCopySizeError
	return errors.Is(err, errTooSplit) || errors.As(err, &copied)
}

// Patch is a list of operations.
type Patch = library.Patch

// Decode decodes a patch. The error is that of encoding/json.
func Decode(text []byte) (Patch, error) { return library.DecodePatch(text) }

// Apply applies the operations of a patch to a document, in order. The error has the library's text about the first operation that fails,
// or is the context's.
//
// An operation that makes the library panic is an error here: a path into a copied null, and an operation on the whole document without a
// value.
func Apply(ctx context.Context, patch Patch, document value.Value) (value.Value, error) {
	d, err := draftOf(ctx, patch, document)
	if err != nil {
		return document, err
	}
	out, err := d.root.value(0)
	if err == nil {
		err = checkDepth(out, 0)
	}
	return out, err
}

// Text is Apply for callers that need the spelling of written values: 1.0 stays 1.0, and a duplicate name stays.
func Text(ctx context.Context, patch Patch, document value.Value) ([]byte, error) {
	d, err := draftOf(ctx, patch, document)
	if err != nil {
		return nil, err
	}
	return d.root.appendText(nil, 0)
}

// draftOf returns the draft of a document after all operations of a patch.
func draftOf(ctx context.Context, patch Patch, document value.Value) (*draft, error) {
	d := &draft{root: whole(document)}
	if err := d.open(d.root); err != nil {
		return nil, err
	}
	for _, op := range patch {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := d.apply(op)
		// The operation may have failed for want of splitting, with another error.
		if d.splits > MaxSplit {
			err = errTooSplit
		}
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

// draft is a document to which a patch is being applied.
//
// It belongs to one patch. root is never nil.
type draft struct {
	root   *node
	copied int64 // bytes that copy operations added
	splits int   // bytes of written texts that paths lead into, counted once per level
}

// apply carries out one operation. A draft is of no use after an error.
func (d *draft) apply(op library.Operation) error {
	switch op.Kind() {
	case "add":
		return d.add(op)
	case "remove":
		return d.remove(op)
	case "replace":
		return d.replace(op)
	case "move":
		return d.move(op)
	case "test":
		return d.test(op)
	case "copy":
		return d.copy(op)
	}
	//lint:ignore ST1005 the text of the library
	return fmt.Errorf("Unexpected kind: %s", op.Kind())
}

// add carries out "add": it sets a member, or inserts an item before an index or at the end, "-".
func (d *draft) add(op library.Operation) error {
	path, err := op.Path()
	if err != nil {
		return fmt.Errorf("add operation failed to decode path: %w", library.ErrMissing)
	}
	in, key := d.find(path)
	if in == nil {
		return fmt.Errorf("add operation does not apply: doc is missing path: \"%s\": %w", path, library.ErrMissing)
	}
	if err := in.add(key, operand(op)); err != nil {
		return fmt.Errorf("error in add for path: '%s': %w", path, err)
	}
	return nil
}

// remove carries out "remove". The part must exist.
func (d *draft) remove(op library.Operation) error {
	path, err := op.Path()
	if err != nil {
		return fmt.Errorf("remove operation failed to decode path: %w", library.ErrMissing)
	}
	in, key := d.find(path)
	if in == nil {
		return fmt.Errorf("remove operation does not apply: doc is missing path: \"%s\": %w", path, library.ErrMissing)
	}
	if err := in.remove(key); err != nil {
		return fmt.Errorf("error in remove for path: '%s': %w", path, err)
	}
	return nil
}

// replace carries out "replace". The part must exist; at the root, the value must be an object or a list.
func (d *draft) replace(op library.Operation) error {
	path, err := op.Path()
	if err != nil {
		return fmt.Errorf("replace operation failed to decode path: %w", err)
	}
	if path == "" {
		root := operand(op)
		if d.open(root) != nil {
			return errNoRoot
		}
		d.root = root
		return nil
	}
	in, key := d.find(path)
	if in == nil {
		return fmt.Errorf("replace operation does not apply: doc is missing path: %s: %w", path, library.ErrMissing)
	}
	if _, err := in.get(key); err != nil {
		return fmt.Errorf("replace operation does not apply: doc is missing key: %s: %w", path, library.ErrMissing)
	}
	in.set(key, operand(op))
	return nil
}

// move carries out "move". It looks for the destination after the part is gone, as indexes may have changed. The part itself is moved, not
// a copy.
func (d *draft) move(op library.Operation) error {
	from, err := op.From()
	if err != nil {
		return fmt.Errorf("move operation failed to decode from: %w", err)
	}
	in, key := d.find(from)
	if in == nil {
		return fmt.Errorf("move operation does not apply: doc is missing from path: %s: %w", from, library.ErrMissing)
	}
	moved, err := in.get(key)
	if err != nil {
		return fmt.Errorf("error in move for path: '%s': %w", key, err)
	}
	if err := in.remove(key); err != nil {
		return fmt.Errorf("error in move for path: '%s': %w", key, err)
	}
	path, err := op.Path()
	if err != nil {
		return fmt.Errorf("move operation failed to decode path: %w", err)
	}
	if in, key = d.find(path); in == nil {
		return fmt.Errorf("move operation does not apply: doc is missing destination path: %s: %w", path, library.ErrMissing)
	}
	if err := in.add(key, moved); err != nil {
		return fmt.Errorf("error in move for path: '%s': %w", path, err)
	}
	return nil
}

// test carries out "test", which compares and changes nothing.
func (d *draft) test(op library.Operation) error {
	path, err := op.Path()
	if err != nil {
		return fmt.Errorf("test operation failed to decode path: %w", err)
	}
	is := d.root
	if path != "" {
		in, key := d.find(path)
		if in == nil {
			return fmt.Errorf("test operation does not apply: is missing path: %s: %w", path, library.ErrMissing)
		}
		if is, err = in.get(key); err != nil {
			return fmt.Errorf("error in test for path: '%s': %w", path, err)
		}
	}
	if !is.equals(operand(op)) {
		return fmt.Errorf("testing value %s failed: %w", path, library.ErrTestFailed)
	}
	return nil
}

// copy carries out "copy". The size of the copy counts before it is added, so no copy exceeds the bound.
func (d *draft) copy(op library.Operation) error {
	from, err := op.From()
	if err != nil {
		return fmt.Errorf("copy operation failed to decode from: %w", err)
	}
	in, key := d.find(from)
	if in == nil {
		return fmt.Errorf("copy operation does not apply: doc is missing from path: %s: %w", from, library.ErrMissing)
	}
	of, err := in.get(key)
	if err != nil {
		return fmt.Errorf("error in copy for from: '%s': %w", from, err)
	}
	path, err := op.Path()
	if err != nil {
		return fmt.Errorf("copy operation failed to decode path: %w", library.ErrMissing)
	}
	if in, key = d.find(path); in == nil {
		return fmt.Errorf("copy operation does not apply: doc is missing destination path: %s: %w", path, library.ErrMissing)
	}
	twin, size, err := of.copy()
	if err != nil {
		return fmt.Errorf("error while performing deep copy: %w", err)
	}
	if d.copied += size; d.copied > MaxCopied {
		return library.NewAccumulatedCopySizeError(MaxCopied, d.copied)
	}
	if err := in.add(key, twin); err != nil {
		return fmt.Errorf("error while adding value during copy: %w", err)
	}
	return nil
}

// errNoRoot has the library's text, which formats a nil error.
var errNoRoot = fmt.Errorf("replace operation value must be object or array: %s", "%!w(<nil>)")

// operand returns the value of an operation, or nil.
//
// An operation without a value differs from one with a null: the former is nil, as a null of the document is.
func operand(op library.Operation) *node {
	text, ok := op["value"]
	switch {
	case !ok:
		return nil
	case text == nil:
		return &node{whole: value.Null()}
	}
	return &node{text: compact(*text)}
}

// compact returns a JSON text without white space. Later operations may test it again and again.
func compact(text []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return text // cannot be: Decode has read it
	}
	return b.Bytes()
}
