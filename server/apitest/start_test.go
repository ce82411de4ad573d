package apitest_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/deed-project/deed/server/apitest"
)

// definitions returns the definition of widgets and n-1 others that are alike.
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

// BenchmarkStart starts servers with five definitions each, as the tests of a controller do.
func BenchmarkStart(b *testing.B) {
	text := definitions(b, 5)
	apitest.Start(b, apitest.YAML(text)) // the first one in a process makes what all share
	b.ReportAllocs()
	for b.Loop() {
		apitest.Start(b, apitest.YAML(text))
	}
}
