package apitest_test

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/race"
	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/apitest"
)

// definitions returns the definition of widgets and n-1 copies of it.
func definitions(tb testing.TB, n int) string {
	tb.Helper()
	text, err := os.ReadFile("testdata/widgets.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	var all []string
	for i := range n {
		group := "example.org"
		if i > 0 {
			group = fmt.Sprintf("example%d.org", i)
		}
		all = append(all, strings.ReplaceAll(string(text), "example.org", group))
	}
	return strings.Join(all, "\n---\n")
}

// BenchmarkStart starts servers with five definitions each, like the tests of a controller.
func BenchmarkStart(b *testing.B) {
	text := definitions(b, 5)
	apitest.Start(b, apitest.YAML(text)) // the first one in a process fills the caches
	b.ReportAllocs()
	for b.Loop() {
		apitest.Start(b, apitest.YAML(text))
	}
}

// BenchmarkStartRBAC is BenchmarkStart with roles that decide. It creates the 141 roles and bindings of a new cluster.
func BenchmarkStartRBAC(b *testing.B) {
	text := definitions(b, 5)
	apitest.Start(b, apitest.YAML(text), apitest.RBAC())
	b.ReportAllocs()
	for b.Loop() {
		apitest.Start(b, apitest.YAML(text), apitest.RBAC())
	}
}

// everything are the options of a server with all plugins and controllers, roles, service accounts and addresses of services.
func everything(definitions string) []apitest.Option {
	return []apitest.Option{
		apitest.YAML(definitions), apitest.RBAC(), apitest.ServiceAccounts(), apitest.ClusterIPs("10.0.0.0/24"), apitest.Controllers("*"),
		apitest.EnableAdmissionPlugins(server.AdmissionPlugins()...),
	}
}

// BenchmarkStartEverything is BenchmarkStart with everything.
func BenchmarkStartEverything(b *testing.B) {
	options := everything(definitions(b, 5))
	apitest.Start(b, options...)
	b.ReportAllocs()
	for b.Loop() {
		apitest.Start(b, options...)
	}
}

// TestStartAgain counts the allocations of starting a server whose definitions the process has cached: they are not parsed, converted or
// compiled again.
func TestStartAgain(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates by itself")
	}
	if n := allocations(t, apitest.YAML(definitions(t, 5))); n > 10000 {
		t.Errorf("%d are too many", n)
	}
}

// TestStartEverything compares the allocations of a server with everything with those of a server with nothing of it.
func TestStartEverything(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates by itself")
	}
	text := definitions(t, 5)
	if with, without := allocations(t, everything(text)...), allocations(t, apitest.YAML(text)); with > 2*without {
		t.Errorf("%d, and %d without everything", with, without)
	}
}

// allocations returns the fewest allocations of some starts. The first one fills the caches of the process. The counter has the allocations of
// all goroutines, so the smallest count is the best.
func allocations(t *testing.T, options ...apitest.Option) uint64 {
	t.Helper()
	fewest := uint64(math.MaxUint64)
	for range 6 {
		t.Run("", func(t *testing.T) { // ends with the server closed
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			apitest.Start(t, options...)
			runtime.ReadMemStats(&after)
			fewest = min(fewest, after.Mallocs-before.Mallocs)
		})
	}
	t.Logf("%d allocations", fewest)
	return fewest
}

// TestStartFirst counts the allocations of the first server in a process. It must not load kinds that no request needs.
func TestStartFirst(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates by itself")
	}
	if os.Getenv("FIRST_SERVER") == "" {
		alone := exec.Command(os.Args[0], "-test.run=^TestStartFirst$")
		alone.Env = append(os.Environ(), "FIRST_SERVER=1")
		if out, err := alone.CombinedOutput(); err != nil {
			t.Errorf("%s%v", out, err)
		}
		return
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	apitest.Start(t)
	runtime.ReadMemStats(&after)
	if n, size := after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc; n > 16800 || size > 2500000 {
		t.Errorf("%d allocations of %d bytes", n, size)
	}
}
