package discovery

import (
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/build"
)

// TestRelease demands that the server answers as the release that deed version and deed-apiserver --version name.
func TestRelease(t *testing.T) {
	want := strings.TrimPrefix(build.Kubernetes, "Kubernetes ")
	if got := "v" + Version(currentMinor).Major + "." + Version(currentMinor).Minor; got != want || !strings.HasPrefix(Version(currentMinor).GitVersion, want+".") {
		t.Errorf("the server answers as %s, %s, and its version as %s", got, Version(currentMinor).GitVersion, want)
	}
}
