// Package dist makes the files of a release from built programs: archives, checksums, bills of materials, a manifest for krew, and
// images. Equal programs make equal bytes, for one release of Go: all times are the time of the commit.
package dist

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// File is a file of an archive, or of the release.
type File struct {
	Name    string // with slashes
	Mode    fs.FileMode
	Content []byte
}

// Build is a program for one platform, and the archive that has it.
type Build struct {
	OS, Arch string
	Program  File
	Beside   []File // the programs that Program runs, in the same directory
	Archive  File
}

// Sum returns the SHA-256 of the content in hexadecimal.
func (f File) Sum() string {
	sum := sha256.Sum256(f.Content)
	return hex.EncodeToString(sum[:])
}

// Archive returns files as an archive in the usual format of goos: zip for windows, tar.gz for all others. The format is the
// extension of its name.
func Archive(name, goos string, files []File, at time.Time) (File, error) {
	var out bytes.Buffer
	write, extension := writeTarGz, ".tar.gz"
	if goos == "windows" {
		write, extension = writeZip, ".zip"
	}
	err := write(&out, sorted(files), at)
	return File{name + extension, 0o644, out.Bytes()}, err
}

// Checksums returns a file with the sums of files, as sha256sum reads it.
func Checksums(files []File) File {
	var b strings.Builder
	for _, f := range sorted(files) {
		fmt.Fprintf(&b, "%s  %s\n", f.Sum(), f.Name)
	}
	return File{"checksums.txt", 0o644, []byte(b.String())}
}

func sorted(files []File) []File {
	return slices.SortedFunc(slices.Values(files), func(a, b File) int { return strings.Compare(a.Name, b.Name) })
}

func writeTarGz(w io.Writer, files []File, at time.Time) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	return errors.Join(writeTar(z, files, at), z.Close())
}

// writeTar writes files that belong to root.
func writeTar(w io.Writer, files []File, at time.Time) error {
	t := tar.NewWriter(w)
	for _, f := range files {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: f.Name, Mode: int64(f.Mode), Size: int64(len(f.Content)), ModTime: at, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(header); err != nil {
			return err
		}
		if _, err := t.Write(f.Content); err != nil {
			return err
		}
	}
	return t.Close()
}

func writeZip(w io.Writer, files []File, at time.Time) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: at.UTC()}
		header.SetMode(f.Mode)
		entry, err := z.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := entry.Write(f.Content); err != nil {
			return err
		}
	}
	return z.Close()
}
