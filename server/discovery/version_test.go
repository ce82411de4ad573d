package discovery

import (
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/build"
)

// TestRelease demands that the server answers as the release that deed version and deed-apiserver --version name.
func TestRelease(t *testing.T) {
	want := strings.TrimPrefix(build.Kubernetes, "Kubernetes ")
	if got := "v" + release.Major + "." + release.Minor; got != want || !strings.HasPrefix(release.GitVersion, want+".") {
		t.Errorf("the server answers as %s, %s, and its version as %s", got, release.GitVersion, want)
	}
}
