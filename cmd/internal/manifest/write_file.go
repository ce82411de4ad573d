package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
)

// errChanged is returned if a file has changed since it was read.
var errChanged = secret.Errorf("the file has changed since it was read; run again")

// write replaces the content of the file by data, completely or, if the process ends before, not at all. It returns an error if the file
// has changed since it was read.
func (f *rewrite) write(data []byte) error {
	if f.mode == 0 && bytes.Equal(data, f.text.Data) {
		return nil
	}
	path, mode := f.text.path, f.mode
	if mode == 0 {
		var err error
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		mode = info.Mode().Perm()
	}
	name, err := writeTemporary(path, mode, data)
	if err != nil {
		return err
	}
	if err := f.unchanged(path); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	if err := os.Rename(name, path); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

// temporaryPattern matches the names that writeTemporary creates, which contain the number of the process.
const temporaryPattern = `^\..+\.deed-(\d+)-\d+\.tmp$`

// removeLeftovers removes temporary files of killed runs from the directories of files, and reports that. It keeps files of running
// processes. It reads each directory once.
func (w *Rewriter) removeLeftovers(files []*rewrite) {
	temporary, seen := regexp.MustCompile(temporaryPattern), map[string]bool{}
	for _, f := range files {
		path := f.text.path
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		dir := filepath.Dir(path)
		if seen[dir] {
			continue
		}
		seen[dir] = true
		entries, err := os.ReadDir(dir)
		if err != nil {
			w.fileProblem(dir, err)
			continue
		}
		for _, e := range entries {
			m := temporary.FindStringSubmatch(e.Name())
			if m == nil || !e.Type().IsRegular() || runs(m[1]) {
				continue
			}
			name := filepath.Join(dir, e.Name())
			if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				w.fileProblem(name, err)
				continue
			}
			w.Warn(notice.InFile(name), "a run that was killed has left this; it is removed")
		}
	}
}

// runs reports whether a process with the number pid exists, or may exist.
func runs(pid string) bool {
	n, err := strconv.Atoi(pid)
	if err != nil {
		return true
	}
	process, err := os.FindProcess(n)
	if err != nil {
		return false
	}
	return !errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// writeTemporary writes data to a new file beside path.
func writeTemporary(path string, mode fs.FileMode, data []byte) (name string, err error) {
	pattern := fmt.Sprintf(".%s.deed-%d-*.tmp", filepath.Base(path), os.Getpid())
	file, err := os.CreateTemp(filepath.Dir(path), pattern)
	if err != nil {
		return "", err
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Chmod(mode), file.Sync(), file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), nil
}

// unchanged returns an error if the file has changed since it was read.
func (f *rewrite) unchanged(path string) error {
	data, err := os.ReadFile(path)
	switch {
	case f.mode != 0 && errors.Is(err, fs.ErrNotExist):
		return nil
	case f.mode == 0 && err != nil:
		return err
	case f.mode != 0 || !bytes.Equal(data, f.text.Data):
		return errChanged
	}
	return nil
}
