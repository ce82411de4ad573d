package read

import (
	"fmt"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// Lists in protobuf. A list in JSON is a text that can be sent while it is read. A list in protobuf has the length of the whole in front:
//
//	head                        the envelope, which says how long the list is, and the metadata of the list
//	item item item ...          held if all of them fit into maxHeld
//	end
//
// So the items are measured first. Encoding them twice costs time, but holding them would cost the memory of the whole list.

// maxHeld bounds the messages that are held while their length is computed.
const maxHeld = 1 << 20

// ListMessages lists as List does, in protocol buffers. Errors are as those of [Reader.ListTexts].
//
// The length of all messages precedes the first one. A list whose messages exceed maxHeld is therefore read twice at one revision: to
// measure it, and to send it. Memory is that of one page of records.
func (b *Reader) ListMessages(q *rest.Request, body *wire.Stream) error {
	options, err := api.ParseListOptions(q.Query)
	if err != nil {
		return err
	}
	l, err := b.newLister(q, options)
	if err != nil {
		return err
	}
	// The first pass. Errors of objects are found here, before the answer begins.
	m := measured{Messages: wire.Messages{Version: q.Version}}
	end, err := l.each(l.objects(m.measure))
	if err != nil {
		return err
	}
	head, err := m.AppendHead(nil, end.Meta(), m.size)
	if err != nil {
		return unsaid(err)
	}
	if m.size <= maxHeld {
		return body.Write(m.AppendEnd(append(head, m.held...)))
	}
	if l, err = b.newLister(q, options); err != nil {
		return err
	}
	// The second pass reads the same revision, so the same objects with the same lengths.
	l.at = end.Version
	m.held = nil
	s := sender{measured: m, body: body, left: m.size, text: head}
	if _, err = l.each(l.objects(s.send)); err != nil {
		return err
	}
	// The client was promised another length. That breaks the answer off, since it cannot be mended any more.
	if s.left != 0 {
		return fmt.Errorf("a list of %d bytes was sent with %d less", m.size, s.left)
	}
	return body.Write(s.AppendEnd(s.text))
}

// measured holds the length of the objects of a list in protobuf.
type measured struct {
	wire.Messages
	size int    // of all messages so far
	held []byte // all messages, while they are within maxHeld
}

// measure adds an object.
func (m *measured) measure(object value.Value) (err error) {
	// Too much to hold: from here on, only count. What was held is dropped by the caller.
	if m.size > maxHeld {
		n, err := m.Size(object)
		m.size += n
		return unsaid(err)
	}
	m.held, err = m.AppendObject(m.held, object)
	m.size = len(m.held)
	return unsaid(err)
}

// sender sends messages that were measured.
type sender struct {
	measured
	body *wire.Stream
	text []byte // text that is not written yet
	left int    // bytes that remain
}

// send appends an object to the text, and writes the text once it is long enough.
func (s *sender) send(object value.Value) error {
	before := len(s.text)
	text, err := s.AppendObject(s.text, object)
	if err != nil {
		return unsaid(err)
	}
	s.text, s.left = text, s.left-(len(text)-before)
	if len(s.text) < listChunk {
		return nil
	}
	err = s.body.Write(s.text)
	s.text = s.text[:0]
	return err
}

// unsaid returns an error for objects that have no protobuf form, and nil for nil.
func unsaid(err error) error {
	if err == nil {
		return nil
	}
	return &wire.EncodeError{Media: wire.Protobuf, Err: err}
}
