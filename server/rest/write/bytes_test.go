package write_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
)

// pods is how many pods BenchmarkBytesPerByte writes in turn.
const pods = 100

// podOf is a configuration of about 6 kB.
func podOf(n, revision int) string {
	var containers []string
	for c := range 6 {
		var env []string
		for e := range 10 {
			env = append(env, fmt.Sprintf(`{"name":"VARIABLE_%d","value":"the value of variable %d of container %d"}`, e, e, c))
		}
		containers = append(containers, fmt.Sprintf(`{"name":"c%d","image":"registry.example.org/team/app-%d:1.2.3","args":["--verbose","--port=80%d"],`+
			`"env":[%s],"ports":[{"containerPort":80%d,"protocol":"TCP"}],"resources":{"limits":{"cpu":"500m","memory":"128Mi"}}}`,
			c, c, c, strings.Join(env, ","), c))
	}
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"pod-%d","namespace":"default","labels":{"revision":"%d"}},`+
		`"spec":{"containers":[%s]}}`, n, revision, strings.Join(containers, ","))
}

// BenchmarkBytesPerByte applies a changed label to pods with four managers in turn, by whole requests without a network. It reports
// how many bytes the process allocates for each byte of the answer.
func BenchmarkBytesPerByte(b *testing.B) {
	s, w := servertest.New(b, server.Config{}), &kept{header: http.Header{}}
	apply := func(code, n int, manager, config string) {
		path := fmt.Sprintf("/api/v1/namespaces/default/pods/pod-%d?fieldManager=%s", n, manager)
		r, err := http.NewRequest("PATCH", path, strings.NewReader(config))
		if err != nil {
			b.Fatal(err)
		}
		r.Header["Content-Type"] = []string{"application/apply-patch+yaml"}
		clear(w.header)
		w.body = w.body[:0]
		if s.ServeHTTP(w, r); w.code != code {
			b.Fatalf("%d %s", w.code, w.body)
		}
	}
	for n := range pods {
		apply(201, n, "owner", podOf(n, 0))
		for _, manager := range []string{"a", "b", "c"} {
			apply(200, n, manager, fmt.Sprintf(
				`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"pod-%d","namespace":"default","annotations":{"%s.example.org/note":"noted"}}}`, n, manager))
		}
	}
	configs := make([]string, 2*pods)
	for i := range configs {
		configs[i] = podOf(i%pods, 1+i/pods)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	answered := 0
	for i := 0; b.Loop(); i++ {
		apply(200, i%pods, "owner", configs[i%len(configs)])
		answered += len(w.body)
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(answered)/float64(b.N), "bytes-of-object/op")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(answered), "bytes/byte")
}
