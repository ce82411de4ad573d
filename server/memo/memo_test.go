package memo_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/deed-project/deed/server/memo"
)

func TestGet(t *testing.T) {
	lengths := memo.Of[int]{Most: 100}
	made := 0
	length := func(text string) int {
		n, err := lengths.Get([]byte(text), func() (int, error) {
			made++
			return len(text), nil
		})
		if err != nil || n != len(text) {
			t.Errorf("%q: %d, %v", text, n, err)
		}
		return made
	}
	if length("a") != 1 || length("bc") != 2 || length("a") != 2 || length("") != 3 {
		t.Errorf("made %d times", made)
	}
	for i := range lengths.Most / len("number 10") {
		length("number " + strconv.Itoa(10+i))
	}
	if before := made; length("a") != before+1 {
		t.Error("nothing is forgotten")
	}
	long := strings.Repeat("x", lengths.Most+1)
	if before := made; length("a") != before || length(long) != before+1 || length(long) != before+2 || length("a") != before+2 {
		t.Error("a text is remembered that is longer than all may be")
	}
}

func TestErrorsAreNotRemembered(t *testing.T) {
	of := memo.Of[int]{Most: 10}
	want := errors.New("not yet")
	if _, err := of.Get(nil, func() (int, error) { return 0, want }); err != want {
		t.Error(err)
	}
	if n, err := of.Get(nil, func() (int, error) { return 7, nil }); n != 7 || err != nil {
		t.Error(n, err)
	}
}
