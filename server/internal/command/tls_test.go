package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCertificateDir makes a certificate in an empty folder, finds it there the next time, and keeps its key to the owner. It does not
// replace what it cannot read.
func TestCertificateDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "certificates")
	o := &options{certDir: dir, host: "127.0.0.1"}
	first, trusted, err := o.tls()
	if err != nil {
		t.Fatal(err)
	}
	again, trustedAgain, err := o.tls()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(trusted, trustedAgain) || !bytes.Equal(first.Certificates[0].Certificate[0], again.Certificates[0].Certificate[0]) {
		t.Error("the second start has another certificate")
	}
	key := filepath.Join(dir, "apiserver.key")
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key: %v, %v", info.Mode(), err)
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	if _, _, err := o.tls(); err == nil || !strings.Contains(err.Error(), key) {
		t.Errorf("without the key: %v", err)
	}
}

// TestLoneKey refuses a key without a certificate, and does not follow a symbolic link in its place.
func TestLoneKey(t *testing.T) {
	for what, make := range map[string]func(key, elsewhere string) error{
		"a key":  func(key, _ string) error { return os.WriteFile(key, []byte("mine"), 0o644) },
		"a link": func(key, elsewhere string) error { return os.Symlink(elsewhere, key) },
	} {
		dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "other")
		key := filepath.Join(dir, "apiserver.key")
		if err := make(key, elsewhere); err != nil {
			t.Fatal(err)
		}
		o := &options{certDir: dir, host: "127.0.0.1"}
		if _, _, err := o.tls(); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", what, err)
		}
		if text, err := os.ReadFile(key); err == nil && string(text) != "mine" {
			t.Errorf("%s is overwritten", what)
		}
		if _, err := os.Stat(elsewhere); err == nil {
			t.Errorf("%s: the file that it leads to is made", what)
		}
	}
}
