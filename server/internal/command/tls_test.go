package command

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/server/logs"
)

// TestCertificateDir makes a certificate in an empty folder, finds it there the next time, and keeps its key to the owner. It does not
// replace what it cannot read.
func TestCertificateDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "certificates")
	o := &tlsOptions{folder: dir}
	first, trusted, err := o.config("127.0.0.1", logs.Logger{})
	if err != nil {
		t.Fatal(err)
	}
	again, trustedAgain, err := o.config("127.0.0.1", logs.Logger{})
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
	if _, _, err := o.config("127.0.0.1", logs.Logger{}); err == nil || !strings.Contains(err.Error(), key) {
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
		o := &tlsOptions{folder: dir}
		if _, _, err := o.config("127.0.0.1", logs.Logger{}); err == nil || !strings.Contains(err.Error(), key) {
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

// TestRenewedCertificate renews a certificate while a server shows it. Faulty files leave the last certificate in use.
func TestRenewedCertificate(t *testing.T) {
	dir := t.TempDir()
	o := &tlsOptions{certificate: filepath.Join(dir, "apiserver.crt"), key: filepath.Join(dir, "apiserver.key")}
	first, _, err := keptCertificate(dir, []string{"localhost"})
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := o.config("127.0.0.1", logs.New(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	shown := func(what string, want tls.Certificate) {
		t.Helper()
		got, err := c.GetCertificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Certificate[0], want.Certificate[0]) {
			t.Error(what, "is not shown")
		}
	}
	shown("the first certificate", first)
	for _, name := range []string{o.certificate, o.key} {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(lookEvery)
	shown("the first certificate, whose files are gone,", first)
	second, _, err := keptCertificate(dir, []string{"localhost"})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(lookEvery)
	shown("the second certificate", second)
}
