package file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"time"

	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/history"
)

// How a change is written in the file. A put of key "/registry/pods/default/a" at revision 7, created at 5, without an expiry time:
//
//	key     00 00 00 00 00 00 00 07
//	value   checksum | 00 | 00 00 00 00 00 00 00 05 | 18 | /registry/pods/default/a | {"apiVersion":...
//
// The checksum covers the key as well, so a value under the key of another change is noticed. The text ends with the value, which is why it
// has no length.

// Flags in the first byte of a change.
const (
	deletedFlag = 1 << iota
	untilFlag
	knownFlags = deletedFlag | untilFlag
)

// checksumSize is the size of the checksum at the begin of each change: CRC-32C of the revision and of the bytes after the checksum.
const checksumSize = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum returns the checksum of the change v under the key k.
//
// v has room for the checksum at its begin, which does not count.
func checksum(k, v []byte) uint32 {
	return crc32.Update(crc32.Checksum(k, castagnoli), castagnoli, v[checksumSize:])
}

// encode returns the key and the value of a change in the file:
//
//	checksum 4 │ flags 1 │ created 8 │ until 8, in ns, if flagged │ length of the key, varint │ key │ text
//
// Numbers are big-endian, so that the order of keys in the file is that of revisions.
func encode(c history.Change) (k, v []byte) {
	k = keyOf(c.Revision)
	v = appendChange(make([]byte, checksumSize), c)
	binary.BigEndian.PutUint32(v, checksum(k, v))
	return k, v
}

// appendChange appends the part of a change after the checksum.
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

// damage is the error of a change whose checksum or layout is wrong.
//
// The key is what Verify prints, even if the checksum is wrong: the key may itself be damaged.
type damage struct {
	revision store.Revision
	key      string // as much as can be read
}

// Error returns a text that names the record.
func (d *damage) Error() string {
	return fmt.Sprintf("revision %d, record %q: %v", d.revision, d.key, errDamaged)
}

// Unwrap returns errDamaged.
func (d *damage) Unwrap() error { return errDamaged }

// readChange decodes a change. The outcome shares no memory with k and v. The error is a *damage if the checksum or the layout is wrong.
//
// A change with a wrong checksum is returned with the error, as far as it can be read. k and v are memory of bbolt, which lasts as long as
// the transaction.
func readChange(k, v []byte) (history.Change, error) {
	revision, err := revisionOf(k)
	if err != nil {
		return history.Change{}, err
	}
	if len(v) < checksumSize {
		return history.Change{}, &damage{revision, ""}
	}
	c, err := readBody(revision, v[checksumSize:])
	if err == nil && binary.BigEndian.Uint32(v) != checksum(k, v) {
		err = &damage{revision, c.Key}
	}
	return c, err
}

// readBody decodes the part of a change after the checksum.
func readBody(revision store.Revision, v []byte) (history.Change, error) {
	var c history.Change
	d := decoder{rest: v}
	flags := d.byte()
	c.Revision, c.Created, c.Deleted = revision, store.Revision(d.uint64()), flags&deletedFlag != 0
	if flags&untilFlag != 0 {
		c.Until = time.Unix(0, int64(d.uint64())).UTC()
	}
	c.Key = string(d.take(d.uvarint()))
	// An unknown flag is damage, too: all flags that any version of the format has are known.
	if d.failed || flags&^knownFlags != 0 {
		return c, &damage{revision, c.Key}
	}
	if !c.Deleted {
		c.Text = append([]byte{}, d.rest...)
	}
	return c, nil
}

// revisionOf decodes a revision that is a key or a value in the file.
func revisionOf(b []byte) (store.Revision, error) {
	if len(b) != 8 {
		return 0, fmt.Errorf("a revision of %d bytes: %w", len(b), errDamaged)
	}
	return store.Revision(binary.BigEndian.Uint64(b)), nil
}

// decoder reads fields from rest until rest is too short.
//
// Once failed is set, all methods return zero values, so callers look at it once at the end.
type decoder struct {
	rest   []byte
	failed bool
}

// take returns the next n bytes, which share memory with rest.
func (d *decoder) take(n uint64) []byte {
	if d.failed || n > uint64(len(d.rest)) {
		d.failed = true
		return nil
	}
	taken := d.rest[:n]
	d.rest = d.rest[n:]
	return taken
}

// byte returns the next byte.
func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

// uint64 returns the next eight bytes as a number.
func (d *decoder) uint64() uint64 {
	if b := d.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// uvarint returns the next number of variable length.
func (d *decoder) uvarint() uint64 {
	n, size := binary.Uvarint(d.rest)
	if d.failed || size <= 0 {
		d.failed = true
		return 0
	}
	d.rest = d.rest[size:]
	return n
}
