package discovery

import (
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/build"
	"github.com/deed-project/deed/schema/builtin"
)

// TestRelease demands that the server answers as the release that deed version and deed-apiserver --version name.
func TestRelease(t *testing.T) {
	want := strings.TrimPrefix(build.Kubernetes, "Kubernetes ")
	if got := "v" + Version(builtin.CurrentMinor).Major + "." + Version(builtin.CurrentMinor).Minor; got != want || !strings.HasPrefix(Version(builtin.CurrentMinor).GitVersion, want+".") {
		t.Errorf("the server answers as %s, %s, and its version as %s", got, Version(builtin.CurrentMinor).GitVersion, want)
	}
}
