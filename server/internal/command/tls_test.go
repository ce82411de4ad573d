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
