package file_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/file"
)

// kept makes a store of a few records, some rewritten and one deleted, and returns the content of its file.
func kept(t *testing.T, name string) []byte {
	t.Helper()
	s := open(t, name)
	for i := range 5 {
		key := fmt.Sprintf("/registry/things/%d", i)
		r, err := s.Put(t.Context(), key, []byte("first text of "+key), 0)
		if err == nil && i%2 == 0 {
			_, err = s.Put(t.Context(), key, []byte("second text of "+key), r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Delete(t.Context(), "/registry/things/3", 0); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// flip returns a copy of a file with one bit flipped: a bit of the i-th byte of a text, wherever the text stands. Some pages of the file
// are old.
func flip(t *testing.T, whole []byte, text string, i int) []byte {
	t.Helper()
	changed := []byte(text)
	changed[i] ^= 1 << (i % 8)
	if !bytes.Contains(whole, []byte(text)) {
		t.Fatalf("the file does not have %q", text)
	}
	return bytes.ReplaceAll(whole, []byte(text), changed)
}

// TestFlippedBits flips single bits in stored texts and keys. The file must be refused, and the error must name the record.
func TestFlippedBits(t *testing.T) {
	dir := t.TempDir()
	whole := kept(t, filepath.Join(dir, "whole"))
	damaged := filepath.Join(dir, "damaged")
	flipped := 0
	for _, text := range []string{"second text of /registry/things/2", "first text of /registry/things/1", "/registry/things/4"} {
		for i := range len(text) {
			if err := os.WriteFile(damaged, flip(t, whole, text, i), 0o600); err != nil {
				t.Fatal(err)
			}
			if s, err := file.Open(damaged); err == nil {
				t.Errorf("byte %d of %q is flipped, and the store opens", i, text)
				s.Close()
			} else if !strings.Contains(err.Error(), "the file is damaged") || !strings.Contains(err.Error(), `record "`) {
				t.Errorf("byte %d of %q is flipped: %v", i, text, err)
			}
			flipped++
		}
	}
	t.Logf("%d bits were flipped", flipped)
}

// TestRepair repairs a file with a damaged change. All records survive, the damaged one in its earlier state.
func TestRepair(t *testing.T) {
	dir := t.TempDir()
	name, repaired := filepath.Join(dir, "store"), filepath.Join(dir, "repaired")
	whole := kept(t, name)
	if r, err := file.Verify(name); err != nil || r.Changes != 9 || r.Records != 4 || r.Revision != 10 || len(r.Defects) > 0 {
		t.Errorf("the whole file: %+v, %v", r, err)
	}
	if err := os.WriteFile(name, flip(t, whole, "second text of /registry/things/2", 2), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := file.Repair(name, repaired)
	if err != nil || r.Changes != 8 || r.Records != 4 || len(r.Defects) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if d := r.Defects[0]; d.Key != "/registry/things/2" || d.Revision != 6 || d.Earlier != 5 {
		t.Errorf("the defect is %+v", d)
	}
	s := open(t, repaired)
	defer s.Close()
	page, err := s.Range(t.Context(), store.Range{})
	if err != nil || page.Revision != 10 {
		t.Fatalf("%d, %v", page.Revision, err)
	}
	var got []string
	for _, record := range page.Records {
		got = append(got, string(record.Text))
	}
	want := []string{
		"second text of /registry/things/0", "first text of /registry/things/1", "first text of /registry/things/2",
		"second text of /registry/things/4",
	}
	if !slices.Equal(got, want) {
		t.Errorf("it has %q, want %q", got, want)
	}
	if _, err := s.Put(t.Context(), "/registry/things/9", nil, 0); err != nil {
		t.Errorf("it takes no more writes: %v", err)
	}
	if _, err := file.Repair(name, repaired); err == nil {
		t.Error("a file that is there is written over")
	}
}

// TestLostFile removes, replaces and truncates the file of an open store. Writes must fail without the name of the file in the error, and
// the store must report that it is lost.
func TestLostFile(t *testing.T) {
	for what, lose := range map[string]func(name string) error{
		"removed": os.Remove,
		"replaced": func(name string) error {
			return errors.Join(os.WriteFile(name+".new", nil, 0o600), os.Rename(name+".new", name))
		},
		"cut":   func(name string) error { return os.Truncate(name, 8192) },
		"empty": func(name string) error { return os.Truncate(name, 0) },
	} {
		name := filepath.Join(t.TempDir(), "store")
		s, err := file.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Put(t.Context(), "/a", []byte("kept"), 0); err != nil || s.Check() != nil {
			t.Fatal(err, s.Check())
		}
		if err := lose(name); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			_, err := s.Put(t.Context(), "/b", []byte("lost"), 0)
			if failure := (*store.Failure)(nil); !errors.As(err, &failure) || strings.Contains(err.Error(), name) {
				t.Errorf("%s: a write returns %v", what, err)
			} else if !strings.Contains(failure.Cause.Error(), name) {
				t.Errorf("%s: the cause is %v", what, failure.Cause)
			}
			if s.Check() == nil {
				t.Errorf("%s: the store finds nothing wrong", what)
			}
		}
		select {
		case <-s.Lost():
		default:
			t.Errorf("%s: the store is not lost", what)
		}
		if _, err := s.Get(t.Context(), "/a", 0); err != nil {
			t.Errorf("%s: what was read before: %v", what, err)
		}
		if err := s.Close(); err == nil {
			t.Errorf("%s: the store closes without an error", what)
		}
	}
}
