package dist

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Image describes an image from scratch: one layer with a static program and its license, for several processors.
type Image struct {
	Name    string // reference without a tag, such as registry.example.org/deed
	Version string // tag
	Commit  string
	Source  string // URL of the source
	Time    time.Time
}

// nameAnnotation is the annotation in which programs that load images look for an image's name.
const nameAnnotation = "io.containerd.image.name"

// user is the user and group ID that images without root usually run as. No user of the host has this ID.
const user = "65532:65532"

// Layout returns the image as an archive of an OCI image layout. It runs the program of the build for the host,
// and has the license beside it.
func (i Image) Layout(name string, builds []Build, license File) (out File, err error) {
	dir, err := os.MkdirTemp("", "deed-image")
	if err != nil {
		return File{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, b := range builds {
		image, err := i.of(b, license)
		if err != nil {
			return File{}, err
		}
		platform := v1.Descriptor{Platform: &v1.Platform{OS: b.OS, Architecture: b.Arch}}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: platform})
	}
	folder, err := layout.Write(dir, empty.Index)
	if err != nil {
		return File{}, err
	}
	names := layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": i.Version,
		nameAnnotation:                      i.Name + ":" + i.Version,
	})
	if err := folder.AppendIndex(index, names); err != nil {
		return File{}, err
	}
	files, err := Below(dir, "")
	if err != nil {
		return File{}, err
	}
	var text bytes.Buffer
	err = writeTar(&text, sorted(files), i.Time)
	return File{name + ".tar", 0o644, text.Bytes()}, err
}

// of returns the image for one processor.
func (i Image) of(b Build, license File) (v1.Image, error) {
	var content bytes.Buffer
	if err := writeTar(&content, append([]File{license, b.Program}, b.Beside...), i.Time); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content.Bytes())), nil }
	layer, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	created := v1.Time{Time: i.Time.UTC()}
	if image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{Created: created, CreatedBy: i.Source}}); err != nil {
		return nil, err
	}
	old, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config := old.DeepCopy()
	config.OS, config.Architecture, config.Created = b.OS, b.Arch, created
	config.Config = v1.Config{Entrypoint: []string{"/" + b.Program.Name}, User: user, WorkingDir: "/", Labels: i.labels()}
	return mutate.ConfigFile(image, config)
}

func (i Image) labels() map[string]string {
	return map[string]string{
		"org.opencontainers.image.source":   i.Source,
		"org.opencontainers.image.version":  i.Version,
		"org.opencontainers.image.revision": i.Commit,
		"org.opencontainers.image.licenses": "Apache-2.0",
	}
}

// Below returns the files in dir and its folders, with prefix and a slash before their names.
func Below(dir, prefix string) (files []File, err error) {
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, file)
		files = append(files, File{path.Join(prefix, filepath.ToSlash(name)), 0o644, content})
		return err
	})
	return files, err
}
