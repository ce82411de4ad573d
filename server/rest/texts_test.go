package rest

import (
	"errors"
	"testing"
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
