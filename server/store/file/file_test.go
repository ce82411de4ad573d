package file_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/file"
	"github.com/deed-project/deed/server/store/storetest"
	"go.etcd.io/bbolt"
)

func open(t testing.TB, name string) store.Store {
	t.Helper()
	s, err := file.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLaws(t *testing.T) {
	storetest.Run(t, storetest.Config{
		Open:    func(t testing.TB) store.Store { return open(t, filepath.Join(t.TempDir(), "store")) },
		Expires: true,
	})
}

// TestReopen checks that a store has the same history after it is opened again: records, every revision that is not compacted, and events.
func TestReopen(t *testing.T) {
	ctx, name := t.Context(), filepath.Join(t.TempDir(), "store")
	s := open(t, name)
	put := func(key, text string, expect store.Revision) store.Revision {
		t.Helper()
		r, err := s.Put(ctx, key, []byte(text), expect)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	a := put("/a", "1", 0)
	b := put("/b", "1", 0)
	if _, err := s.Delete(ctx, "/b", b); err != nil {
		t.Fatal(err)
	}
	put("/b", "2", 0)
	put("/a", "2", a)
	until := time.Date(2026, 1, 1, 0, 0, 0, 5, time.UTC)
	if _, err := s.PutUntil(ctx, "/c", nil, 0, until); err != nil {
		t.Fatal(err)
	}
	again := func() {
		t.Helper()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, name)
	}
	for compacted := store.Revision(1); compacted <= 7; compacted++ {
		before := describe(t, s, compacted)
		again()
		if after := describe(t, s, compacted); after != before {
			t.Errorf("compacted to %d it has\n%s, want\n%s", compacted, after, before)
		}
		if compacted < 7 {
			if err := s.Compact(ctx, compacted+1); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Expire(ctx, until); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(ctx, "/c", 0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("when its time is over: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// describe returns everything that can be read from a store.
func describe(t *testing.T, s store.Store, compacted store.Revision) string {
	var b strings.Builder
	latest, err := s.Range(t.Context(), store.Range{})
	if err != nil {
		t.Fatal(err)
	}
	for at := store.Revision(1); at <= latest.Revision; at++ {
		page, err := s.Range(t.Context(), store.Range{At: at})
		fmt.Fprintln(&b, at, err)
		for _, r := range page.Records {
			fmt.Fprintf(&b, "  %s %q %d %d\n", r.Key, r.Text, r.Created, r.Revision)
		}
	}
	if compacted == latest.Revision {
		return b.String() // there are no events
	}
	seq, err := s.Watch(t.Context(), "", compacted)
	if err != nil {
		t.Fatal(err)
	}
	for batch, err := range seq {
		fmt.Fprintf(&b, "%v %+v\n", err, batch)
		if batch.Revision == latest.Revision {
			break
		}
	}
	return b.String()
}

// TestOpenErrors checks that the error for a file that cannot be opened names the file and the reason.
func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	busy := filepath.Join(dir, "busy")
	s := open(t, busy)
	defer s.Close()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("no store\n", 5000)), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := edited(t, filepath.Join(dir, "broken"), "changes", "12345678", "\x00short")
	another := edited(t, filepath.Join(dir, "another"), "meta", "format", "3")
	gap := edited(t, filepath.Join(dir, "gap"), "changes", "\x00\x00\x00\x00\x00\x00\x00\x05", "\x00\x00\x00\x00\x00\x00\x00\x00\x05\x01k")
	later := edited(t, filepath.Join(dir, "later"), "changes", "\x00\x00\x00\x00\x00\x00\x00\x02", "\x04\x00\x00\x00\x00\x00\x00\x00\x02\x01k")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(another, link); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		link:                            "it is a symbolic link",
		busy:                            "another process has it open",
		text:                            "invalid database",
		filepath.Join(dir, "no", "dir"): "no such file or directory",
		broken:                          "the file is damaged",
		another:                         `its format is "3", and not "2"`,
		gap:                             "revision 5 follows where 2 should",
		later:                           "revision 2, record \"k\": the file is damaged", // it has an unknown flag
	} {
		_, err := file.Open(name)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// TestOthersCannotRead opens a file that is readable by others.
func TestOthersCannotRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "store")
	if err := open(t, name).Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, 0o644); err != nil {
		t.Fatal(err)
	}
	defer open(t, name).Close()
	if is, err := os.Stat(name); err != nil || is.Mode() != 0o600 {
		t.Errorf("the file has mode %v, %v", is.Mode(), err)
	}
}

// edited makes a store and puts an entry into one of its buckets. An entry in the bucket of changes gets a valid checksum.
func edited(t *testing.T, name, bucket, key, v string) string {
	t.Helper()
	if err := open(t, name).Close(); err != nil {
		t.Fatal(err)
	}
	if bucket == "changes" {
		sum := crc32.Checksum([]byte(key+v), crc32.MakeTable(crc32.Castagnoli))
		v = string(binary.BigEndian.AppendUint32(nil, sum)) + v
	}
	db, err := bbolt.Open(name, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error { return tx.Bucket([]byte(bucket)).Put([]byte(key), []byte(v)) })
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return name
}
