package download

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/deed-project/deed/cmd/internal/manifest"
)

// Downloads are kept in the cache directory of the user, in deed/downloads: a file for each URL, and beside it what the server said of its
// version. Their names are hashes of the URL.

// kept is a download that is kept.
type kept struct {
	file string // without a cache directory, empty
	data []byte // nil if there is none

	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"lastModified,omitempty"`
	Sum          string `json:"sha256"` // of the data
}

// keptAt returns what is kept of a URL. A damaged file counts as missing.
func keptAt(url string) *kept {
	folder, err := os.UserCacheDir()
	if err != nil {
		return &kept{}
	}
	sum := sha256.Sum256([]byte(url))
	k := &kept{file: filepath.Join(folder, "deed", "downloads", hex.EncodeToString(sum[:]))}
	about, err := os.ReadFile(k.file + ".json")
	if err != nil || json.Unmarshal(about, k) != nil {
		return &kept{file: k.file}
	}
	if data, err := os.ReadFile(k.file); err == nil && sumOf(data) == k.Sum {
		k.data = data
		return k
	}
	return &kept{file: k.file}
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// ask makes r a request for a newer version.
func (k *kept) ask(r *http.Request) {
	if k.data == nil {
		return
	}
	if k.ETag != "" {
		r.Header.Set("If-None-Match", k.ETag)
	}
	if k.LastModified != "" {
		r.Header.Set("If-Modified-Since", k.LastModified)
	}
}

// keep keeps data with what the server says of it.
func (k *kept) keep(data []byte, header http.Header) error {
	if k.file == "" {
		return nil
	}
	about, err := json.Marshal(kept{ETag: header.Get("ETag"), LastModified: header.Get("Last-Modified"), Sum: sumOf(data)})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(k.file), 0o700); err != nil {
		return err
	}
	for name, text := range map[string][]byte{k.file: data, k.file + ".json": about} {
		if err := replace(name, text); err != nil {
			return err
		}
	}
	return nil
}

// answer returns the answer to request, for the URL that k was kept of. It is what was kept, if the server says that this has not changed,
// and, with an error, if the server cannot be reached.
func (k *kept) answer(request *http.Request) ([]byte, error) {
	k.ask(request)
	data, header, err := get(request)
	switch {
	case errors.Is(err, errNotModified):
		return k.data, nil
	case err != nil && k.data != nil:
		return k.data, &manifest.StaleError{Err: err}
	case err != nil:
		return nil, err
	}
	if err := k.keep(data, header); err != nil {
		return data, fmt.Errorf("no copy is kept: %w", err)
	}
	return data, nil
}

// replace writes a file, by way of a temporary one.
func replace(name string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".download-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
