package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
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
		temporary, err := writeTemporary(name, 0o600, text)
		if err == nil {
			err = os.Rename(temporary, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fetchKept is [Loader.fetch] with a copy that is kept. It uses the copy if the server says that it has not changed, and if the server
// cannot be reached, with a warning.
func (c *Loader) fetchKept(name string) *Text {
	k := keptAt(name)
	data, header, err := c.get(name, k.ask)
	where := notice.InFile(shown(name))
	switch {
	case errors.Is(err, errNotModified):
		data = k.data
	case err != nil && k.data != nil:
		c.Warn(where, "%s: the copy of an earlier run is used", secret.Open.Error(c.fetchError(err)))
		data = k.data
	case err != nil:
		c.Problem(where, "%s", secret.Open.Error(c.fetchError(err)))
		return nil
	default:
		if err := k.keep(data, header); err != nil {
			c.Warn(where, "no copy is kept: %s", secret.Open.Error(err))
		}
	}
	return &Text{Name: shown(name), Data: data}
}

// errNotModified is returned if a server says that a copy is what it has.
var errNotModified = fmt.Errorf("the server answers %d", http.StatusNotModified)
