package cache_test

import (
	"errors"
	"strconv"
	"testing"

	"github.com/deed-project/deed/server/cache"
)

func TestByText(t *testing.T) {
	lengths := cache.ByText[int]{Budget: 10_000}
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
	for i := range 100 {
		length("number " + strconv.Itoa(i))
	}
	before := made
	for i := range 100 {
		length("number " + strconv.Itoa(i))
	}
	if again := made - before; again < 70 {
		t.Errorf("of 100 texts %d are made again, and there is room for 24", again)
	}
}

func TestErrorsAreNotRemembered(t *testing.T) {
	of := cache.ByText[int]{Budget: 1000}
	want := errors.New("not yet")
	if _, err := of.Get(nil, func() (int, error) { return 0, want }); err != want {
		t.Error(err)
	}
	if n, err := of.Get(nil, func() (int, error) { return 7, nil }); n != 7 || err != nil {
		t.Error(n, err)
	}
}
