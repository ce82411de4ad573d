package rest

import (
	"errors"
	"testing"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// TestUnsentMemoryIsNotUsedAgain loses the client of a list and of a watch while they write: what was not sent may still be on its way, so
// that nobody else may write to its memory.
func TestUnsentMemoryIsNotUsedAgain(t *testing.T) {
	var unsent *byte
	lost := newTexts(nil, func(text []byte) error { unsent = &text[0]; return errors.New("the client is gone") }, whole{})
	lost.append("secret")
	if lost.send() == nil {
		t.Fatal("the error of writing is lost")
	}
	lost.release()
	page, told := newPage(), false
	page.releaseIf(&told)
	for range 10 {
		next := newTexts(nil, nil, whole{})
		if next.append("next"); &next.text[0] == unsent {
			t.Error("another list is written to the memory of text that may still be on its way")
		}
		if newPage() == page {
			t.Error("another watch is told from a page that may still be on its way")
		}
	}
}

// loads counts how often objects are loaded: catalog.Form.
type loads struct {
	catalog.Form
	n int
}

// Load counts.
func (l *loads) Load(stored value.Value) (value.Value, error) {
	l.n++
	return l.Form.Load(stored)
}

// TestReadOnce reads a text twice: the second time it is known that the version shows it as it is.
func TestReadOnce(t *testing.T) {
	s := newTheater(t)
	counted := &loads{Form: s.maps.Form}
	s.maps.Form = counted
	r := &Request{Backend: s.Backend, Version: s.maps}
	record := store.Record{
		Key: s.maps.Key("a", "x"), Text: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","uid":"u"}}`), Revision: 7,
	}
	first, err := r.readOnce(record)
	if err != nil || counted.n != 1 {
		t.Fatalf("read first: loaded %d times, %v", counted.n, err)
	}
	again, err := r.readOnce(record)
	if err != nil || counted.n != 1 || !again.Content.Equal(first.Content) {
		t.Errorf("read again: %v, loaded %d times, %v", again.Content, counted.n, err)
	}
}
