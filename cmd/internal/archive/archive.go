// Package archive reads manifests in archives. It stands apart because its libraries are large, and not every program that reads manifests
// reads archives.
package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/manifest"
)

// maxUnpacked is the maximum length of the manifests in an archive together, in bytes.
var maxUnpacked int64 = 256 << 20

// Unpack returns the manifests in an archive, sorted by name: the files called .yaml, .yml and .json. They are called ARCHIVE/NAME.
func Unpack(archive string, data []byte) ([]*manifest.Text, error) {
	var texts []*manifest.Text
	left := maxUnpacked
	add := func(name string, r io.Reader) error {
		name = path.Clean("/" + name)
		if ext := path.Ext(name); ext != ".yaml" && ext != ".yml" && ext != ".json" {
			return nil
		}
		text, err := io.ReadAll(io.LimitReader(r, left+1))
		if err != nil {
			return err
		}
		if left -= int64(len(text)); left < 0 {
			return fmt.Errorf("the manifests in it have more than %d MiB", maxUnpacked>>20)
		}
		texts = append(texts, &manifest.Text{Name: archive + name, Data: text})
		return nil
	}
	unpacked := untar
	if bytes.HasPrefix(data, []byte("PK")) {
		unpacked = unzip
	}
	if err := unpacked(data, add); err != nil {
		return nil, fmt.Errorf("the archive cannot be read: %w", err)
	}
	slices.SortFunc(texts, func(a, b *manifest.Text) int { return strings.Compare(a.Name, b.Name) })
	return texts, nil
}

// untar calls add for the files of a tar archive in gzip.
func untar(data []byte, add func(string, io.Reader) error) error {
	packed, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return err
	}
	files := tar.NewReader(packed)
	for {
		h, err := files.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case h.Typeflag != tar.TypeReg:
			continue
		}
		if err := add(h.Name, files); err != nil {
			return err
		}
	}
}

// unzip calls add for the files of a zip archive.
func unzip(data []byte, add func(string, io.Reader) error) error {
	files, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	for _, f := range files.File {
		if !f.Mode().IsRegular() {
			continue
		}
		r, err := f.Open()
		if err == nil {
			err = errors.Join(add(f.Name, r), r.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}
