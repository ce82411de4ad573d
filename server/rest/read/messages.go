package read

import (
	"fmt"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

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
	l.at = end.Version
	m.held = nil
	s := sender{measured: m, body: body, left: m.size, text: head}
	if _, err = l.each(l.objects(s.send)); err != nil {
		return err
	}
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
