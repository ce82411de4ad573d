package read

import (
	"fmt"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// maxHeld is how many bytes of messages are held before their length is known.
const maxHeld = 1 << 20

// ListMessages lists as List does, in protocol buffers. Errors are as those of [Reader.ListTexts].
//
// The length of all messages stands in front of the first one. So a list whose messages have more than maxHeld bytes is read twice at the same
// revision: to measure it, and to send it. Memory is that of a page of records, however many objects there are.
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

// measured are the objects of a list in protocol buffers, and how long they are.
type measured struct {
	wire.Messages
	size int    // of all so far
	held []byte // all of them, if that is not too much
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
	text []byte // what is not sent yet
	left int    // how many bytes are still to come
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

// unsaid returns what the answer to a list is whose objects are no messages, nil if err is nil.
func unsaid(err error) error {
	if err == nil {
		return nil
	}
	return &wire.EncodeError{Media: wire.Protobuf, Err: err}
}
