package file_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/file"
	"github.com/deed-project/deed/server/store/storetest"
)

// TestTornWrites tears the next commit while clients write and read. The store is closed for that and opened again.
func TestTornWrites(t *testing.T) {
	each := 500
	if testing.Short() {
		each = 100
	}
	name := filepath.Join(t.TempDir(), "store")
	var using sync.RWMutex // held while the store is reopened
	current := open(t, name)
	reopened, end, random := 0, make(chan struct{}), seeds.Rand(t)
	var disturbing sync.WaitGroup
	disturbing.Go(func() {
		for {
			select {
			case <-end:
				return
			default:
			}
			using.Lock()
			if err := current.Close(); err != nil {
				t.Error(err)
			}
			tear(t, name, random)
			current = open(t, name)
			reopened++
			using.Unlock()
		}
	})
	storetest.Linearizable(t, storetest.History{
		Clients: 20, Each: each,
		Store: func() store.Store {
			using.RLock()
			defer using.RUnlock()
			return current
		},
		Context:   func(*rand.Rand) (context.Context, context.CancelFunc) { return context.WithCancel(t.Context()) },
		Uncertain: func(err error) bool { return errors.Is(err, store.ErrClosed) },
	})
	close(end)
	disturbing.Wait()
	if err := current.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("it was opened again %d times", reopened)
}

// Layout of the two meta pages of bbolt, which it writes alternately, each with the number of the transaction.
const (
	pageSize = 4096
	metaAt   = 16
	txAt     = 64
	metaEnd  = 80
)

// tear overwrites the older meta page, as if a commit had been cut off while it wrote that page.
func tear(t *testing.T, name string, random *rand.Rand) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var tx [2]uint64
	for i := range tx {
		var b [8]byte
		if _, err := f.ReadAt(b[:], int64(i)*pageSize+txAt); err != nil {
			t.Fatal(err)
		}
		tx[i] = binary.LittleEndian.Uint64(b[:])
	}
	older := int64(0)
	if tx[1] < tx[0] {
		older = 1
	}
	garbage := make([]byte, metaEnd-metaAt)
	for i := range garbage {
		garbage[i] = byte(random.Uint32())
	}
	if _, err := f.WriteAt(garbage, older*pageSize+metaAt); err != nil {
		t.Fatal(err)
	}
}

// TestDamage checks that a damaged file is refused with its name, or opens with all records. The file is truncated after and within each
// page, and each page is zeroed.
func TestDamage(t *testing.T) {
	if os.Getpagesize() != pageSize {
		t.Skipf("pages have %d bytes", os.Getpagesize())
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "store")
	s := open(t, name)
	for i := range 200 {
		if _, err := s.Put(t.Context(), fmt.Sprintf("/k/%d", i), make([]byte, 300), 0); err != nil {
			t.Fatal(err)
		}
	}
	before := listed(t, s)
	if _, err := s.Put(t.Context(), "/last", nil, 0); err != nil {
		t.Fatal(err)
	}
	want := listed(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	try := func(what string, text []byte) {
		t.Helper()
		damaged := filepath.Join(dir, what)
		if err := os.WriteFile(damaged, text, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := file.Open(damaged)
		if err != nil {
			refused++
			if got := err.Error(); len(got) < len(damaged) || got[:len("store ")+len(damaged)] != "store "+damaged {
				t.Errorf("%s: %v", what, err)
			}
			return
		}
		// Without the meta page of the last commit, the commit before it counts.
		if got := listed(t, s); got != want && (got != before || !strings.HasPrefix(what, "empty-")) {
			t.Errorf("%s: the store opens, and has %.1000s", what, got)
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	pages := len(whole) / pageSize
	for n := range pages {
		if n > 0 {
			try(fmt.Sprint("cut-", n), whole[:n*pageSize])
			try(fmt.Sprint("torn-", n), whole[:n*pageSize-pageSize/2])
		}
		empty := append([]byte{}, whole...)
		clear(empty[n*pageSize : (n+1)*pageSize])
		try(fmt.Sprint("empty-", n), empty)
	}
	t.Logf("%d of %d damaged files were refused", refused, 3*pages-2)
	if refused < pages {
		t.Errorf("only %d damaged files of %d were refused", refused, 3*pages-2)
	}
}

// listed returns the content of a store as text.
func listed(t *testing.T, s store.Store) string {
	t.Helper()
	page, err := s.Range(t.Context(), store.Range{})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, r := range page.Records {
		fmt.Fprintln(&out, r.Key, r.Created, r.Revision, len(r.Text))
	}
	return out.String()
}
