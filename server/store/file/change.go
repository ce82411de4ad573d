package file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/history"
)

// What may be in the first byte of a change.
const (
	deletedFlag = 1 << iota
	untilFlag
	knownFlags = deletedFlag | untilFlag
)

// appendChange appends a change, without its revision, to b:
//
//	flags 1 │ created 8 │ until 8, in ns, if flagged │ length of the key, varint │ key │ text
func appendChange(b []byte, c history.Change) []byte {
	b = slices.Grow(b, 1+8+8+binary.MaxVarintLen64+len(c.Key)+len(c.Text))
	var flags byte
	if c.Deleted {
		flags |= deletedFlag
	}
	if !c.Until.IsZero() {
		flags |= untilFlag
	}
	b = append(b, flags)
	b = binary.BigEndian.AppendUint64(b, uint64(c.Created))
	if flags&untilFlag != 0 {
		b = binary.BigEndian.AppendUint64(b, uint64(c.Until.UnixNano()))
	}
	b = binary.AppendUvarint(b, uint64(len(c.Key)))
	b = append(b, c.Key...)
	return append(b, c.Text...)
}

var errDamaged = errors.New("the file is damaged")

// readChange reads a change. It shares nothing with k and v.
func readChange(k, v []byte) (history.Change, error) {
	var c history.Change
	revision, err := revisionOf(k)
	if err != nil {
		return c, err
	}
	d := decoder{rest: v}
	flags := d.byte()
	c.Revision, c.Created, c.Deleted = revision, store.Revision(d.uint64()), flags&deletedFlag != 0
	if flags&untilFlag != 0 {
		c.Until = time.Unix(0, int64(d.uint64())).UTC()
	}
	c.Key = string(d.take(d.uvarint()))
	if d.failed || flags&^knownFlags != 0 {
		return c, fmt.Errorf("revision %d: %w", revision, errDamaged)
	}
	if !c.Deleted {
		c.Text = append([]byte{}, d.rest...)
	}
	return c, nil
}

func revisionOf(b []byte) (store.Revision, error) {
	if len(b) != 8 {
		return 0, fmt.Errorf("a revision of %d bytes: %w", len(b), errDamaged)
	}
	return store.Revision(binary.BigEndian.Uint64(b)), nil
}

// decoder reads from rest until there is too little of it.
type decoder struct {
	rest   []byte
	failed bool
}

func (d *decoder) take(n uint64) []byte {
	if d.failed || n > uint64(len(d.rest)) {
		d.failed = true
		return nil
	}
	taken := d.rest[:n]
	d.rest = d.rest[n:]
	return taken
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if b := d.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (d *decoder) uvarint() uint64 {
	n, size := binary.Uvarint(d.rest)
	if d.failed || size <= 0 {
		d.failed = true
		return 0
	}
	d.rest = d.rest[size:]
	return n
}
