package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
)

// archived are the files in the archives of the tests.
var archived = map[string]string{
	"crds/b.yaml": "{kind: B}", "crds/a.yml": "{kind: A}", "../c.json": `{"kind": "C"}`, "README.md": "text", "values.yaml/": "",
}

func tarGz(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	w := tar.NewWriter(packed)
	for name, text := range archived {
		h := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}
		if strings.HasSuffix(name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zipped(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, text := range archived {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// names returns the names of texts without a prefix.
func names(texts []*manifest.Text, prefix string) []string {
	var out []string
	for _, t := range texts {
		out = append(out, strings.TrimPrefix(t.Name, prefix))
	}
	return out
}

var wantNames = []string{"/c.json", "/crds/a.yml", "/crds/b.yaml"}

// TestArchives checks that the manifests in archives are read.
func TestArchives(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string][]byte{"a.tgz": tarGz(t), "a.tar.gz": tarGz(t), "a.zip": zipped(t)} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, data, 0o666); err != nil {
			t.Fatal(err)
		}
		var errs bytes.Buffer
		c := &manifest.Loader{Log: notice.NewLog(&errs, nil), Secrets: &secret.Rules{}, Unpack: Unpack}
		if got := names(c.Read([]string{file}, false), file); !slices.Equal(got, wantNames) || errs.Len() > 0 {
			t.Errorf("%s: %q, want %q\n%s", name, got, wantNames, &errs)
		}
		if err := os.WriteFile(file, data[:len(data)/2], 0o666); err != nil {
			t.Fatal(err)
		}
		if c.Read([]string{file}, false); !strings.Contains(errs.String(), "the archive cannot be read") {
			t.Errorf("%s: half of it is read: %s", name, &errs)
		}
	}
}

// TestArchiveBound checks that an archive cannot fill the memory.
func TestArchiveBound(t *testing.T) {
	defer func(n int64) { maxUnpacked = n }(maxUnpacked)
	maxUnpacked = 20
	if _, err := Unpack("a.tgz", tarGz(t)); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("got %v", err)
	}
}
