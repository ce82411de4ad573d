package memo_test

import (
	"errors"
	"strconv"
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
	for i := range lengths.Most {
		length("number " + strconv.Itoa(i))
	}
	if before := made; length("a") != before+1 {
		t.Error("nothing is forgotten")
	}
}

func TestErrorsAreNotRemembered(t *testing.T) {
	of := memo.Of[int]{Most: 1}
	want := errors.New("not yet")
	if _, err := of.Get(nil, func() (int, error) { return 0, want }); err != want {
		t.Error(err)
	}
	if n, err := of.Get(nil, func() (int, error) { return 7, nil }); n != 7 || err != nil {
		t.Error(n, err)
	}
}
