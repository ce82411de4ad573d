package dist

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Push copies an image, an archive from [Image.Layout], to the registry in its name. It returns the reference of the pushed image.
func Push(archive []byte, auth authn.Authenticator) (reference string, err error) {
	dir, err := os.MkdirTemp("", "deed-push")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := unpack(archive, dir); err != nil {
		return "", err
	}
	all, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return "", err
	}
	outer, err := all.IndexManifest()
	if err != nil {
		return "", err
	}
	if len(outer.Manifests) != 1 {
		return "", fmt.Errorf("the archive has %d images, want 1", len(outer.Manifests))
	}
	ref, err := name.ParseReference(outer.Manifests[0].Annotations[nameAnnotation])
	if err != nil {
		return "", err
	}
	digest := outer.Manifests[0].Digest
	index, err := all.ImageIndex(digest)
	if err != nil {
		return "", err
	}
	return ref.Name() + "@" + digest.String(), remote.WriteIndex(ref, index, remote.WithAuth(auth))
}

// unpack writes the files of an archive into dir.
func unpack(archive []byte, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() // its files are closed already
	for in := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		content, err := io.ReadAll(in)
		if err != nil {
			return err
		}
		if err := errors.Join(root.MkdirAll(filepath.Dir(header.Name), 0o755), root.WriteFile(header.Name, content, 0o644)); err != nil {
			return err
		}
	}
}
