package cluster

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Cache keeps OpenAPI documents in a folder:
//
//	FOLDER/SERVER/apis_example.org_v1-HASH.json
//
// SERVER distinguishes servers, and HASH is computed from the server's own hash of the document. The cache keeps only the newest document
// of a path. A damaged file counts as missing. Several processes may use a folder.
type Cache struct {
	folder string
	// Failed receives the error of a write. A document that is not kept is fetched again the next time. A nil Failed ignores the error.
	Failed func(error)
}

// NewCache returns the cache in folder for the documents of a server, which is named by its URL. The first write creates the folder.
func NewCache(folder, server string) *Cache {
	sum := sha256.Sum256([]byte(server))
	return &Cache{folder: filepath.Join(folder, hex.EncodeToString(sum[:8]))}
}

// prefix returns the common prefix of the file names for path.
func (c *Cache) prefix(path string) string {
	return strings.ReplaceAll(strings.Trim(path, "/"), "/", "_") + "-"
}

// file returns the name of the file for a document.
func (c *Cache) file(path, hash string) string {
	sum := sha256.Sum256([]byte(hash))
	return filepath.Join(c.folder, c.prefix(path)+hex.EncodeToString(sum[:16])+".json")
}

// load returns a document if the cache has it.
func (c *Cache) load(path, hash string) ([]byte, bool) {
	text, err := os.ReadFile(c.file(path, hash))
	return text, err == nil && json.Valid(text)
}

// store keeps a document, and removes the other documents of its path.
func (c *Cache) store(path, hash string, text []byte) {
	if err := c.write(c.file(path, hash), c.prefix(path), text); err != nil && c.Failed != nil {
		c.Failed(fmt.Errorf("the OpenAPI document of %s is not kept: %w", path, err))
	}
}

func (c *Cache) write(file, prefix string, text []byte) error {
	if err := os.MkdirAll(c.folder, 0o700); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(c.folder, ".new-*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(text)
	if err = errors.Join(err, temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	others, err := os.ReadDir(c.folder)
	for _, other := range others {
		name := filepath.Join(c.folder, other.Name())
		if !strings.HasPrefix(other.Name(), prefix) || name == file {
			continue
		}
		if gone := os.Remove(name); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}
