package dist_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"gopkg.in/yaml.v3"

	"github.com/deed-project/deed/internal/release/dist"
)

var at = time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC)

var files = []dist.File{
	{Name: "tool", Mode: 0o755, Content: []byte("program")},
	{Name: "LICENSE", Mode: 0o644, Content: []byte("free")},
}

// TestTarGz unpacks an archive. The order of files makes no difference to its bytes.
func TestTarGz(t *testing.T) {
	a, err := dist.Archive("tool_linux_amd64", "linux", files, at)
	check(t, err)
	b, err := dist.Archive("tool_linux_amd64", "linux", []dist.File{files[1], files[0]}, at.In(time.FixedZone("X", 3600)))
	check(t, err)
	if a.Name != "tool_linux_amd64.tar.gz" || !bytes.Equal(a.Content, b.Content) {
		t.Errorf("%s and %s have sums %s and %s", a.Name, b.Name, a.Sum(), b.Sum())
	}
	z, err := gzip.NewReader(bytes.NewReader(a.Content))
	check(t, err)
	got := untar(t, z)
	if len(got) != 2 || got[0].header.Name != "LICENSE" || got[1].content != "program" || got[1].header.Mode != 0o755 || !got[1].header.ModTime.Equal(at) {
		t.Errorf("it has %+v", got)
	}
}

func TestZip(t *testing.T) {
	a, err := dist.Archive("tool_windows_amd64", "windows", files, at)
	check(t, err)
	z, err := zip.NewReader(bytes.NewReader(a.Content), int64(len(a.Content)))
	check(t, err)
	if a.Name != "tool_windows_amd64.zip" || len(z.File) != 2 || z.File[1].Name != "tool" || z.File[1].Mode() != 0o755 || !z.File[1].Modified.Equal(at) {
		t.Errorf("%s has %+v", a.Name, z.File)
	}
}

func TestChecksums(t *testing.T) {
	const want = "%s  LICENSE\n%s  tool\n"
	if got := string(dist.Checksums(files).Content); got != fmt.Sprintf(want, sha256hex("free"), sha256hex("program")) {
		t.Errorf("they are\n%s", got)
	}
}

// TestSBOM reads the bill of the command that makes releases.
func TestSBOM(t *testing.T) {
	name := filepath.Join(t.TempDir(), "release")
	out, err := exec.Command("go", "build", "-o", name, "github.com/deed-project/deed/internal/release").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	content, err := os.ReadFile(name)
	check(t, err)
	self := dist.File{Name: "self", Content: content}
	bill, err := dist.SBOM("self_linux_amd64", self, at)
	check(t, err)
	again, err := dist.SBOM("self_linux_amd64", self, at)
	check(t, err)
	var bom struct {
		BomFormat, SerialNumber string
		Metadata                struct {
			Timestamp string
			Component struct {
				Name   string
				Hashes []struct{ Content string }
			}
		}
		Components []struct {
			Purl       string
			Properties []struct{ Value string }
		}
	}
	check(t, json.Unmarshal(bill.Content, &bom))
	if bill.Name != "self_linux_amd64.cdx.json" || !bytes.Equal(bill.Content, again.Content) || bom.SerialNumber != "" {
		t.Errorf("%s is not the same twice", bill.Name)
	}
	if top := bom.Metadata; bom.BomFormat != "CycloneDX" || top.Timestamp != "2026-11-02T09:30:00Z" || top.Component.Name != "self" || top.Component.Hashes[0].Content != self.Sum() {
		t.Errorf("it is of %+v", bom.Metadata)
	}
	found := map[string]string{}
	for _, c := range bom.Components {
		url, _, _ := strings.Cut(c.Purl, "@")
		found[url] = ""
		if len(c.Properties) > 0 {
			found[url] = c.Properties[0].Value
		}
	}
	if _, ok := found["pkg:golang/std"]; !ok || !strings.HasPrefix(found["pkg:golang/gopkg.in/yaml.v3"], "h1:") {
		t.Errorf("it lists %v", found)
	}
	if _, err := dist.SBOM("x", files[0], at); err == nil {
		t.Error("a file that is no program has a bill")
	}
}

func TestKrew(t *testing.T) {
	archive, err := dist.Archive("tool_linux_amd64", "linux", files, at)
	check(t, err)
	p := dist.Plugin{Name: "tool", Version: "v0.1.0", Homepage: "https://example.org", Short: "Does it", Description: "It does\nit.\n", Downloads: "https://example.org/v0.1.0"}
	manifest, err := dist.Krew(p, []dist.Build{{OS: "linux", Arch: "amd64", Program: files[0], Archive: archive}})
	check(t, err)
	const want = `apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: tool
spec:
  version: v0.1.0
  homepage: https://example.org
  shortDescription: Does it
  description: |
    It does
    it.
  platforms:
    - selector:
        matchLabels:
          arch: amd64
          os: linux
      uri: https://example.org/v0.1.0/tool_linux_amd64.tar.gz
      sha256: SUM
      bin: tool
`
	if got := strings.Replace(string(manifest.Content), archive.Sum(), "SUM", 1); manifest.Name != "tool.yaml" || got != want {
		t.Errorf("%s is\n%s", manifest.Name, got)
	}
	var any map[string]any
	check(t, yaml.Unmarshal(manifest.Content, &any))
}

// TestImage pushes an image for two processors to a registry, has the library validate what the registry has, and looks for the
// program in it.
func TestImage(t *testing.T) {
	r := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer r.Close()
	i := dist.Image{Name: strings.TrimPrefix(r.URL, "http://") + "/org/tool", Version: "v0.1.0", Commit: "0ac3aa9d", Source: "https://example.org", Time: at}
	builds := []dist.Build{{OS: "linux", Arch: "amd64", Program: files[0]}, {OS: "linux", Arch: "arm64", Program: files[0]}}
	made, err := i.Layout("tool_image", builds, files[1])
	check(t, err)
	again, err := i.Layout("tool_image", builds, files[1])
	check(t, err)
	if made.Name != "tool_image.tar" || !bytes.Equal(made.Content, again.Content) {
		t.Errorf("%s is not the same twice", made.Name)
	}
	pushed, err := dist.Push(made.Content, authn.Anonymous)
	check(t, err)
	ref, err := name.ParseReference(i.Name + ":v0.1.0")
	check(t, err)
	index, err := remote.Index(ref)
	check(t, err)
	check(t, validate.Index(index))
	if digest, err := index.Digest(); err != nil || pushed != ref.Name()+"@"+digest.String() {
		t.Errorf("it is pushed as %s, and the registry has %s, %v", pushed, digest, err)
	}
	manifest, err := index.IndexManifest()
	check(t, err)
	for n, arch := range []string{"amd64", "arm64"} {
		if p := manifest.Manifests[n].Platform; p.String() != "linux/"+arch {
			t.Errorf("image %d is for %s", n, p)
		}
		image, err := index.Image(manifest.Manifests[n].Digest)
		check(t, err)
		checkImage(t, image, arch)
	}
}

func checkImage(t *testing.T, image v1.Image, arch string) {
	t.Helper()
	config, err := image.ConfigFile()
	check(t, err)
	c := config.Config
	if config.Architecture != arch || !config.Created.Equal(at) || c.Entrypoint[0] != "/tool" || c.User != "65532:65532" || c.Labels["org.opencontainers.image.revision"] != "0ac3aa9d" {
		t.Errorf("its configuration is %+v", config)
	}
	layers, err := image.Layers()
	check(t, err)
	content, err := layers[0].Uncompressed()
	check(t, err)
	defer content.Close()
	if got := untar(t, content); len(layers) != 1 || len(got) != 2 || got[1].header.Name != "tool" || got[1].header.Mode != 0o755 || got[1].content != "program" {
		t.Errorf("its %d layers have %+v", len(layers), got)
	}
}

// TestPage renders the help of a program.
func TestPage(t *testing.T) {
	const help = "tool does it.\n\nUsage:\n  tool [flags]\n\nAvailable Commands:\n  completion  Complete\n  mend  Mend\n\nFlags:\n      --a   b\n"
	page := dist.Page([]string{"tool"}, "v0.1.0", []byte(help), at)
	for _, want := range []string{`.TH "TOOL" "1" "Nov 2026" "tool v0.1.0" "deed"`, "tool \\- does it\n", "Usage:\n  tool [flags]\n", "Flags:\n      --a   b\n"} {
		if page.Name != "man/man1/tool.1" || !strings.Contains(string(page.Content), want) {
			t.Errorf("%s lacks %q:\n%s", page.Name, want, page.Content)
		}
	}
	if subs := dist.Subcommands([]byte(help)); len(subs) != 1 || subs[0] != "mend" {
		t.Errorf("it has %v", subs)
	}
	of := dist.Page([]string{"tool", "mend"}, "v0.1.0", []byte("Mend it\n\nUsage:\n"), at)
	if of.Name != "man/man1/tool-mend.1" || !strings.Contains(string(of.Content), "tool-mend \\- Mend it\n") {
		t.Errorf("%s is\n%s", of.Name, of.Content)
	}
}

func sha256hex(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

type entry struct {
	header  *tar.Header
	content string
}

func untar(t *testing.T, r io.Reader) (out []entry) {
	t.Helper()
	for in := tar.NewReader(r); ; {
		header, err := in.Next()
		if err == io.EOF {
			return out
		}
		check(t, err)
		content, err := io.ReadAll(in)
		check(t, err)
		out = append(out, entry{header, string(content)})
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
