package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// heavy are packages whose code alone would make the page of the playground larger than it may be. Each has a room of its own.
var heavy = []string{
	"net/http", "html/template", "text/template", "k8s.io/apimachinery/pkg/apis/meta/v1", "k8s.io/kube-openapi/pkg/validation/spec",
	"google.golang.org/protobuf/proto", "sigs.k8s.io/kustomize/api/krusty", "github.com/spf13/cobra",
}

// playgroundArgs build the program of the playground, as web/build does.
var playgroundArgs = []string{"-tags", "openapi_crdonly", "-gcflags", "github.com/deed-project/deed/...=-l", "./internal/playground/wasm"}

// TestPlaygroundIsLight checks that the program of the playground has no package of [heavy].
func TestPlaygroundIsLight(t *testing.T) {
	cmd := exec.Command("go", append([]string{"list", "-deps"}, playgroundArgs...)...)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, "github.com/deed-project/deed/cmd/internal/playground") {
		t.Fatalf("the program lacks the playground: %q", deps)
	}
	for _, name := range heavy {
		if slices.Contains(deps, name) {
			t.Errorf("the playground has %s", name)
		}
	}
}

// maxPlayground is the maximum size of the program before compression, in bytes. With it, the page takes less than 3 MB with gzip.
//
// Each type that slices.SortFunc sorts takes 20 kB. SortStableFunc takes 10.
const maxPlayground = 11_600_000

// TestPlaygroundIsSmall builds the program of the playground.
func TestPlaygroundIsSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	file := filepath.Join(t.TempDir(), "deed.wasm")
	cmd := exec.Command("go", append([]string{"build", "-trimpath", "-ldflags", "-s -w", "-o", file}, playgroundArgs...)...)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxPlayground {
		t.Errorf("the program has %d bytes, want at most %d", info.Size(), maxPlayground)
	}
}
