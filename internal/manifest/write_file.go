package manifest

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// errChanged says that a file is not what it was when it was read.
var errChanged = errors.New("the file has changed since it was read; run again")

// write makes data the content of the file: all of it or, if the process ends before, nothing of it. It refuses if the file
// is not what it was when it was read.
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

// writeTemporary writes data to a new file beside path.
func writeTemporary(path string, mode fs.FileMode, data []byte) (name string, err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return "", err
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Chmod(mode), file.Sync(), file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), nil
}

// unchanged reports as an error that the file is not what it was when it was read.
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
