package manifest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
func names(texts []*Text, prefix string) []string {
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
		c := &Loader{Log: notice.NewLog(&errs, nil), Secrets: &secret.Rules{}}
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
	if _, err := unpack("a.tgz", tarGz(t)); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("got %v", err)
	}
}

// TestKept checks that a download is kept, used where the server says that it has not changed, and used where there is no server.
func TestKept(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	var codes []int
	version := "1"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"`+version+`"`)
		if r.Header.Get("If-None-Match") == `"`+version+`"` {
			codes = append(codes, http.StatusNotModified)
			w.WriteHeader(http.StatusNotModified)
			return
		}
		codes = append(codes, http.StatusOK)
		if _, err := w.Write(tarGz(t)); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	read := func() (int, string) {
		var errs bytes.Buffer
		c := &Loader{Log: notice.NewLog(&errs, nil), Secrets: &secret.Rules{}}
		return len(c.ReadKept([]string{server.URL + "/crds.tgz?x=y"})), errs.String()
	}
	for i, want := range []string{"1", "1", "2"} {
		version = want
		if n, errs := read(); n != len(wantNames) || errs != "" {
			t.Errorf("run %d: %d files\n%s", i, n, errs)
		}
	}
	if want := []int{http.StatusOK, http.StatusNotModified, http.StatusOK}; !slices.Equal(codes, want) {
		t.Errorf("the server answers %d, want %d", codes, want)
	}
	server.Close()
	if n, errs := read(); n != len(wantNames) || !strings.Contains(errs, "warning: ") || !strings.Contains(errs, "the copy of an earlier run is used") {
		t.Errorf("without a server: %d files\n%s", n, errs)
	}
}
