package file_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/file"
)

// Environment variables of the child process that writes: the file of its store, and the seed of its writes.
const (
	childVariable = "DEED_TEST_STORE"
	seedVariable  = "DEED_TEST_SEED"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(childVariable); name != "" {
		if err := writeForever(name, os.Getenv(seedVariable)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// TestKill kills a writing process many times. Every acknowledged write must be there, and no write may be there in part. DEED_KILLS sets
// the number of kills.
func TestKill(t *testing.T) {
	kills := 15
	if testing.Short() {
		kills = 3
	}
	if text := os.Getenv("DEED_KILLS"); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(t.TempDir(), "store")
	r := seeds.Rand(t)
	acknowledged := 0
	for range kills {
		writes := killed(t, name, r.Uint64(), 1+r.IntN(100))
		acknowledged += len(writes)
		verify(t, name, writes)
	}
	t.Logf("%d kills, %d acknowledged writes", kills, acknowledged)
}

// killed starts a writer and kills it after n acknowledged writes. It returns all acknowledged writes: keys with revisions.
func killed(t *testing.T, name string, seed uint64, n int) map[string]store.Revision {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childVariable+"="+name, fmt.Sprint(seedVariable, "=", seed))
	var complaint strings.Builder
	child.Stderr = &complaint
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	writes := map[string]store.Revision{}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			break // a line that was cut off acknowledges no write
		}
		var key string
		var revision store.Revision
		if _, err := fmt.Sscan(line, &key, &revision); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if writes[key] = max(writes[key], revision); len(writes) == n {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := child.Wait(); err == nil || complaint.Len() > 0 {
		t.Fatalf("the writer ended by itself: %v %s", err, complaint.String())
	}
	return writes
}

// verify checks the file of a killed process.
func verify(t *testing.T, name string, writes map[string]store.Revision) {
	t.Helper()
	s := open(t, name)
	defer s.Close()
	page, err := s.Range(t.Context(), store.Range{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range page.Records {
		if string(r.Text) != string(textOf(r.Key, len(r.Text))) {
			t.Errorf("%s is half there", r.Key)
		}
		if writes[r.Key] > r.Revision {
			t.Errorf("%s is of revision %d, and %d was acknowledged", r.Key, r.Revision, writes[r.Key])
		}
		delete(writes, r.Key)
	}
	for key, revision := range writes {
		t.Errorf("%s of revision %d was acknowledged and is not there", key, revision)
	}
}

// writeForever writes in several goroutines, compacts now and then, and prints each write that returned.
func writeForever(name, text string) error {
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return err
	}
	s, err := file.Open(name)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	failed := make(chan error)
	for i := range 8 {
		go func() {
			r := seeds.Stream(seed, i)
			for {
				if err := writeOne(s, r, &mu); err != nil {
					failed <- err
				}
			}
		}()
	}
	return <-failed
}

func writeOne(s store.Store, r *rand.Rand, mu *sync.Mutex) error {
	ctx, key := context.Background(), fmt.Sprintf("/w/%d", r.IntN(500))
	current, err := s.Get(ctx, key, 0)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	revision, err := s.Put(ctx, key, textOf(key, r.IntN(20000)), current.Revision)
	if errors.Is(err, store.ErrConflict) {
		return nil
	}
	if err != nil {
		return err
	}
	if r.IntN(20) == 0 {
		if err := s.Compact(ctx, revision); err != nil {
			return err
		}
	}
	mu.Lock()
	defer mu.Unlock()
	_, err = fmt.Println(key, revision)
	return err
}

// textOf returns the text of n bytes for a key.
func textOf(key string, n int) []byte {
	sum := sha256.Sum256([]byte(key))
	text := make([]byte, n)
	for i := range text {
		text[i] = sum[i%len(sum)] ^ byte(i>>8)
	}
	return text
}
