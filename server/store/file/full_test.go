//go:build linux

package file_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/file"
)

const fullVariable = "DEED_TEST_FULL"

func init() {
	if name := os.Getenv(fullVariable); name != "" {
		if err := fill(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// TestDiskFull limits the size of the file. Writes then fail with the reason, records stay readable, and the store goes on when the limit
// is lifted. The limit applies to a process, so the test uses a child process.
func TestDiskFull(t *testing.T) {
	name := filepath.Join(t.TempDir(), "store")
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), fullVariable+"="+name)
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := open(t, name)
	defer s.Close()
	if r, err := s.Get(t.Context(), "/again", 0); err != nil || string(r.Text) != "there is room" {
		t.Errorf("opened again it has %q, %v", r.Text, err)
	}
}

// fill is the body of the child process.
func fill(name string) error {
	signal.Ignore(syscall.SIGXFSZ)
	ctx := context.Background()
	s, err := file.Open(name)
	if err != nil {
		return err
	}
	var all syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &all); err != nil {
		return err
	}
	is, err := os.Stat(name)
	if err != nil {
		return err
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(is.Size()), Max: all.Max}); err != nil {
		return err
	}
	written := 0
	for err == nil {
		if _, err = s.Put(ctx, fmt.Sprintf("/k/%d", written), make([]byte, 1000), 0); err == nil {
			written++
		}
	}
	if !full(err) || !strings.Contains(errors.Unwrap(err).Error(), name) || strings.Contains(err.Error(), name) {
		return fmt.Errorf("a write that has no room fails with %w", err)
	}
	page, err := s.Range(ctx, store.Range{Prefix: "/k/"})
	if err != nil || len(page.Records) != written || written == 0 {
		return fmt.Errorf("%d of %d records are left, %w", len(page.Records), written, err)
	}
	if _, err := s.Put(ctx, "/k/0", make([]byte, 100_000), page.Records[0].Revision); !full(err) {
		return fmt.Errorf("the next write fails with %w", err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &all); err != nil {
		return err
	}
	if _, err := s.Put(ctx, "/again", []byte("there is room"), 0); err != nil {
		return fmt.Errorf("when there is room: %w", err)
	}
	return s.Close()
}

// full reports whether err is about the size of the file. bbolt only says so in its text.
func full(err error) bool {
	failure := (*store.Failure)(nil)
	return errors.As(err, &failure) && strings.Contains(failure.Cause.Error(), syscall.EFBIG.Error())
}
