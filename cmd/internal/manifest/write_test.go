package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/deed-project/deed/cmd/internal/notice"
)

// writable creates a file with content and returns its rewrite.
func writable(t *testing.T, content string, mode os.FileMode) *rewrite {
	t.Helper()
	path := filepath.Join(t.TempDir(), "live.yaml")
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	return &rewrite{text: &Text{Name: path, path: path, Data: []byte(content)}}
}

// wantFile checks that path has the content text, and is alone in its directory.
func wantFile(t *testing.T, path, text string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != text {
		t.Errorf("%s holds %q, want %q (%v)", path, got, text, err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("there is something beside the file: %v (%v)", entries, err)
	}
}

func TestWriteKeepsMode(t *testing.T) {
	f := writable(t, "old\n", 0o640)
	if err := f.write([]byte("new\n")); err != nil {
		t.Fatal(err)
	}
	wantFile(t, f.text.path, "new\n")
	if info, err := os.Stat(f.text.path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, want that of before (%v)", info.Mode(), err)
	}
}

func TestWriteRefusesChangedFiles(t *testing.T) {
	f := writable(t, "old\n", 0o644)
	if err := os.WriteFile(f.text.path, []byte("theirs\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := f.write([]byte("new\n")); !errors.Is(err, errChanged) {
		t.Errorf("got %v, want %v", err, errChanged)
	}
	wantFile(t, f.text.path, "theirs\n")

	created := writable(t, "theirs\n", 0o644)
	created.mode, created.text.Data = 0o644, nil
	if err := created.write([]byte("new\n")); !errors.Is(err, errChanged) {
		t.Errorf("a file that was not there: got %v, want %v", err, errChanged)
	}
	wantFile(t, created.text.path, "theirs\n")
}

func TestWriteThroughLinks(t *testing.T) {
	f := writable(t, "old\n", 0o644)
	link := filepath.Join(t.TempDir(), "link.yaml")
	if err := os.Symlink(f.text.path, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	f.text.path, link = link, f.text.path
	if err := f.write([]byte("new\n")); err != nil {
		t.Fatal(err)
	}
	wantFile(t, link, "new\n")
	if info, err := os.Lstat(f.text.path); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is no link any more: %v (%v)", info.Mode(), err)
	}
}

func TestWriteLeavesEqualFiles(t *testing.T) {
	f := writable(t, "old\n", 0o444)
	before, err := os.Stat(f.text.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.write([]byte("old\n")); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(f.text.path); err != nil || !os.SameFile(before, after) {
		t.Errorf("the file was written although nothing changes (%v)", err)
	}
}

// TestRunRefusesChangedFiles changes the live file after deed has read it and before deed writes it.
func TestRunRefusesChangedFiles(t *testing.T) {
	dir := t.TempDir()
	live := filepath.Join(dir, "live.yaml")
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	if err := os.WriteFile(live, []byte(object), 0o644); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	c := &Loader{Log: notice.NewLog(&stderr, &stdout)}
	files, err := c.NewRewriter([]string{live}, &stdout, false)
	if err != nil {
		t.Fatal(err)
	}
	stored := c.Objects(c.Read([]string{live}, false))[0]
	outcome := stored.Object
	outcome.Content = outcome.Content.With("immutable", outcome.Content.Get("kind"))
	if err := files.Set(stored, outcome, "written"); err != nil {
		t.Fatal(err)
	}
	const theirs = object + "# theirs\n"
	if err := os.WriteFile(live, []byte(theirs), 0o644); err != nil {
		t.Fatal(err)
	}
	files.Flush()
	if want := live + ": not written: " + errChanged.Error() + "\n"; stderr.String() != want || stdout.Len() > 0 {
		t.Errorf("stdout %q, stderr %q, want nothing and %q", &stdout, &stderr, want)
	}
	if c.Code != notice.ExitInput {
		t.Errorf("exit code %d, want %d", c.Code, notice.ExitInput)
	}
	wantFile(t, live, theirs)
}

// TestLeftovers checks that only the files of killed runs are removed, not the files of running processes or files with similar names.
func TestLeftovers(t *testing.T) {
	f := writable(t, "old\n", 0o644)
	dir := filepath.Dir(f.text.path)
	killed := exec.Command(os.Args[0], "-test.run", "^$")
	if err := killed.Run(); err != nil {
		t.Fatal(err)
	}
	gone := fmt.Sprintf(".other.yaml.deed-%d-1.tmp", killed.Process.Pid)
	kept := []string{fmt.Sprintf(".live.yaml.deed-%d-2.tmp", os.Getpid()), ".live.yaml.3.tmp", "x.deed-1-1.tmp"}
	for _, name := range append(kept, gone) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var stderr bytes.Buffer
	w := &Rewriter{Loader: &Loader{Log: notice.NewLog(&stderr, nil)}, notes: io.Discard, dry: true}
	w.order = []*rewrite{f}
	w.Flush()
	if stderr.Len() > 0 {
		t.Errorf("a dry run says %s", &stderr)
	}
	w.dry = false
	w.Flush()
	want := filepath.Join(dir, gone) + ": warning: a run that was killed has left this; it is removed\n"
	if got := stderr.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := os.Stat(filepath.Join(dir, gone)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there (%v)", gone, err)
	}
	for _, name := range kept {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}
