package read

import (
	"encoding/binary"
	"strconv"
	"sync"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// Lists as JSON text, made of stored texts. What happens to a record depends on whether it has a fact, and on whether the body is
// compressed. Only a body that is long enough is compressed, so that is open at first:
//
//	no fact                     decode and print; what is collected is written before, to keep the order
//	fact, plain body            splice the stored text
//	fact, body may compress     hold the record until the bound on the length decides
//	fact, compressed body       collect records to a block, and write the block from the cache; see blocks.go
//
// Invariant: the order of records is kept. Between calls of take, the list so far is what the body has, then text, then held or block. At
// most one of held and block has objects.

// ListTexts is List as JSON text, which it makes from stored texts and writes to body piece by piece. All errors come before the first
// piece, except those of body, of an object, and of a store that fails meanwhile.
//
// Memory is that of one page of records. An object that this process did not write is decoded once per stored revision. Otherwise the cost
// is copying its text, and looking up the fields of the selector. A compressed body consists of cached blocks. It costs a look at each
// object, and the compression of changed blocks.
func (b *Reader) ListTexts(q *rest.Request, body *wire.Stream) error {
	options, err := api.ParseListOptions(q.Query)
	if err != nil {
		return err
	}
	l, err := b.newLister(q, options)
	if err != nil {
		return err
	}
	t := newTexts(l, body, whole{})
	defer t.release()
	t.append(`{"apiVersion":`, quoted(q.Version.APIVersion()), `,"items":[`)
	end, err := l.each(t.take)
	if err != nil {
		return err
	}
	if err := t.settle(); err != nil {
		return err
	}
	t.append(`],"kind":`, quoted(q.Version.ListKind), `,"metadata":{`)
	if end.Continue != "" || q.Version.Custom {
		t.append(`"continue":`, quoted(end.Continue), `,`)
	}
	t.end(end)
	return t.send()
}

// end appends the rest of the list's metadata, and the end of the list.
func (t *texts) end(end rest.List) {
	if end.Remaining > 0 {
		t.append(`"remainingItemCount":`, strconv.Itoa(end.Remaining), `,`)
	}
	t.append(`"resourceVersion":"`, strconv.FormatInt(int64(end.Version), 10), `"}}`, "\n")
}

// quoted returns a text as a JSON string.
func quoted(s string) string { return value.String(s).String() }

// items prints the objects of a list. The item of a record with a fact has two parts.
//
// A row of a Table and a whole object are items. Those of one text and one form differ in their fresh part alone, which is why blocks have
// it in their keys.
type items interface {
	// form identifies the form of the items in the key of a block.
	form() string
	// fresh appends the part that may change while the object's revision stays the same, such as an age.
	fresh(b []byte, t *texts, record store.Record, known *fact) ([]byte, error)
	// fixed appends the rest.
	fixed(b []byte, record store.Record, known *fact) []byte
	// least returns a lower bound on the length of the item.
	least(record store.Record, known *fact) int
	// read appends a decoded object.
	read(t *texts, o managedfields.Object) error
}

// texts is a list that is being written.
//
// It belongs to one goroutine. The caller appends the begin and the end of the list, and take appends the objects.
type texts struct {
	*lister
	items items
	body  *wire.Stream
	text  []byte // text that is not written yet
	some  bool   // the list has an item
	// The objects after text, if the client takes gzip. Once body is certain to be compressed, they are the objects of a block. Before that
	// they wait for the decision.
	block block
	held  []item
	least int // lower bound on the text of the objects that wait
}

// newTexts returns a list that is being written. The caller must release it.
func newTexts(l *lister, body *wire.Stream, how items) *texts {
	return &texts{lister: l, body: body, items: how, text: *textBuffers.Get().(*[]byte)}
}

// textBuffers holds buffers for text that is not written yet.
var textBuffers = sync.Pool{New: func() any { b := make([]byte, 0, listChunk+listChunk/4); return &b }}

// release returns the buffer. Nothing may use the text afterwards.
//
// A buffer that has grown too large is left to the garbage collector.
func (t *texts) release() {
	if t.text != nil && cap(t.text) <= 2*listChunk {
		b := t.text[:0]
		textBuffers.Put(&b)
	}
	t.text = nil
}

// send writes the collected text. If the write fails, the buffer is not reused, because HTTP/2 may still read it in another goroutine.
func (t *texts) send() error {
	if err := t.body.Write(t.text); err != nil {
		t.text = nil
		return err
	}
	t.text = t.text[:0]
	return nil
}

// listChunk is the amount of text per write. It is so large that the cost of a write is small beside that of sending.
const listChunk = 256 << 10

// append appends parts to the text that is not written yet.
func (t *texts) append(parts ...string) {
	for _, part := range parts {
		t.text = append(t.text, part...)
	}
}

// take appends the object of a record if it matches; see each.
func (t *texts) take(record store.Record, known *fact) (bool, error) {
	switch {
	case known == nil:
		if err := t.settle(); err != nil {
			return false, err
		}
		return t.takeSlowly(record)
	case t.body.Compresses():
		return true, t.addToBlock(record, known)
	case t.body.MayCompress():
		return true, t.hold(record, known)
	}
	return true, t.print(record, known)
}

// print appends the object of a record with a fact.
func (t *texts) print(record store.Record, known *fact) (err error) {
	t.begin()
	if t.text, err = t.items.fresh(t.text, t, record, known); err != nil {
		return err
	}
	t.text = t.items.fixed(t.text, record, known)
	return t.flush()
}

// takeSlowly is take for a record that must be decoded: it has no fact, or the selector reads decoded fields.
//
// Decoding may find that the version shows the text as it is. Then the text is used at once.
func (t *texts) takeSlowly(record store.Record) (bool, error) {
	o, err := t.decoded(record)
	if err != nil || !t.selector.matches(o.Content) {
		return false, err
	}
	if known := t.facts.get(t.Version, record.Revision); known != nil {
		return true, t.print(record, known)
	}
	t.begin()
	if err := t.items.read(t, o.Object); err != nil {
		return false, err
	}
	return true, t.flush()
}

// whole prints objects unchanged. It implements items.
type whole struct{}

func (whole) form() string { return "" }

func (whole) fresh(b []byte, _ *texts, _ store.Record, _ *fact) ([]byte, error) { return b, nil }

// A built-in kind's list leaves apiVersion and kind away from its items; custom resources keep them, as in kube-apiserver.
func (whole) fixed(b []byte, record store.Record, known *fact) []byte {
	return known.appendTo(b, record.Text, record.Revision, !known.version.Custom)
}

func (whole) least(record store.Record, known *fact) int {
	n := len(record.Text)
	if v := known.version; !v.Custom {
		n -= len(`"apiVersion":"","kind":"",`) + len(v.APIVersion()) + len(v.Kind) // the list has these members
	}
	return n
}

// read prints the document that fixed would have spliced.
func (whole) read(t *texts, o managedfields.Object) error {
	document, err := o.Value()
	if err != nil {
		return err
	}
	if !t.Version.Custom {
		document = document.With("apiVersion", value.Value{}).With("kind", value.Value{})
	}
	t.text = document.AppendJSON(t.text)
	return nil
}

// decoded returns the object of a record. It caches the object if later requests are likely to need its fields, or if it was converted.
//
// A selector that reads texts, and no conversion: then the fact that ReadOnce keeps is all that later lists need.
func (t *texts) decoded(record store.Record) (Live, error) {
	if _, converted := t.Version.Form.(catalog.Batch); t.selector.inTexts && !converted {
		return t.ReadOnce(record)
	}
	o, err := t.read(record)
	if err != nil {
		return Live{}, err
	}
	return o.Live, nil
}

// begin appends the comma between two objects.
func (t *texts) begin() {
	if t.some {
		t.text = append(t.text, ',')
	}
	t.some = true
}

// flush writes the collected text if there is enough of it.
func (t *texts) flush() error {
	if len(t.text) < listChunk {
		return nil
	}
	return t.send()
}

// hold keeps an object until the body is sure to be compressed, or settle is called.
func (t *texts) hold(record store.Record, known *fact) error {
	t.held = append(t.held, item{record, known})
	t.least += t.items.least(record, known)
	// The body learns how long the list is at least, and decides whether that is worth compressing.
	if t.body.Expect(t.least); !t.body.Compresses() {
		return nil
	}
	for _, i := range t.held {
		if err := t.addToBlock(i.record, i.known); err != nil {
			return err
		}
	}
	t.held = nil
	return nil
}

// settle writes the block that was collected, or prints the objects that are held.
func (t *texts) settle() error {
	for _, i := range t.held {
		if err := t.print(i.record, i.known); err != nil {
			return err
		}
	}
	t.held = t.held[:0]
	return t.sendBlock()
}

// addToBlock adds an object to the block that is collected, and writes that if it ends with it.
func (t *texts) addToBlock(record store.Record, known *fact) (err error) {
	b := &t.block
	b.says = binary.LittleEndian.AppendUint64(b.says, uint64(record.Revision))
	from := len(b.says)
	if b.says, err = t.items.fresh(b.says, t, record, known); err != nil {
		return err
	}
	b.fresh = append(b.fresh, newSpan(from, len(b.says)))
	b.items = append(b.items, item{record, known})
	// The border of a block depends on the key alone, unless the block is full: so the same objects make the same blocks in every list.
	if b.text += len(record.Text); b.text < blockText && !known.border {
		return nil
	}
	return t.sendBlock()
}

// sendBlock writes the text before the collected block, and then the block if there is one.
func (t *texts) sendBlock() error {
	b := &t.block
	if len(b.items) == 0 {
		return nil
	}
	// The text before the block is not part of it: it is compressed for this answer alone.
	if err := t.send(); err != nil {
		return err
	}
	key := blockKey{t.Version, t.items.form(), !t.some, string(b.says)}
	part, ok := t.blocks.Get(key)
	if !ok {
		for i, item := range b.items {
			t.begin()
			t.text = append(t.text, b.fresh[i].in(b.says)...)
			t.text = t.items.fixed(t.text, item.record, item.known)
		}
		// The buffer is empty after send, so it can take the text of the block.
		part = wire.Deflate(t.text)
		t.text = t.text[:0]
		t.blocks.Put(key, part, len(key.says)+part.Len(), blocksBudget)
	}
	t.some = true
	*b = block{items: b.items[:0], says: b.says[:0], fresh: b.fresh[:0]}
	return t.body.Add(part)
}
