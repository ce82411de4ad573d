package write_test

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/race"
	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
)

const appsPath = "/apis/load.example.org/v1/namespaces/default/apps"

// appsDefinition returns the definition of what oracle/record/serve writes.
func appsDefinition(tb testing.TB) string {
	tb.Helper()
	text, err := os.ReadFile("../../../oracle/record/serve/apps.json")
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// appOf is an object of about 2 kB, as oracle/record/serve sends it.
func appOf(name, version string, replicas int) string {
	var containers []string
	for c := range 3 {
		var env []string
		for e := range 6 {
			env = append(env, fmt.Sprintf(`{"name":"VARIABLE_%d","value":"the value of variable %d of container %d"}`, e, e, c))
		}
		containers = append(containers, fmt.Sprintf(`{"name":"c%d","image":"registry.example.org/team/app-%d:1.2.3","args":["--verbose","--port=80%d"],`+
			`"env":[%s],"ports":[{"containerPort":80%d,"protocol":"TCP"}],"resources":{"limits":{"cpu":"500m","memory":"128Mi"}}}`,
			c, c, c, strings.Join(env, ","), c))
	}
	if version != "" {
		version = fmt.Sprintf(`"resourceVersion":%q,`, version)
	}
	return fmt.Sprintf(`{"apiVersion":"load.example.org/v1","kind":"App","metadata":{%s"name":%q,"namespace":"default","labels":{"app":"one"}},`+
		`"spec":{"replicas":%d,"selector":{"app":%q},"template":{"labels":{"app":%q},"containers":[%s]}}}`,
		version, name, replicas, name, name, strings.Join(containers, ","))
}

// appWrite is a kind of write to such objects.
type appWrite struct {
	name        string
	allocations float64            // that a request may cost, the client's among them
	send        func(n int) string // sends the n-th request, and returns what went wrong
}

// appWrites starts a server, and returns the writes that oracle/record/serve measures, without a network.
func appWrites(tb testing.TB) []appWrite {
	s, w := servertest.New(tb, server.Config{}), &kept{header: http.Header{}}
	send := func(code int, method, path, media, body string) string {
		r, err := http.NewRequest(method, path, strings.NewReader(body))
		if err != nil {
			return err.Error()
		}
		r.Header["Content-Type"] = []string{media}
		clear(w.header)
		w.body = w.body[:0]
		if s.ServeHTTP(w, r); w.code != code {
			return fmt.Sprintf("%s %s: %d %s", method, path, w.code, w.body)
		}
		return ""
	}
	must := func(wrong string) {
		if tb.Helper(); wrong != "" {
			tb.Fatal(wrong)
		}
	}
	const object, applied, merged = "application/json", "application/apply-patch+yaml", "application/merge-patch+json"
	must(send(201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", object, appsDefinition(tb)))
	for _, name := range []string{"updated", "patched"} {
		must(send(201, "POST", appsPath+"?fieldManager=load", object, appOf(name, "", 1)))
	}
	for _, name := range []string{"one", "same"} {
		must(send(201, "PATCH", appsPath+"/"+name+"?fieldManager=a", applied, appOf(name, "", 1)))
	}
	var one, same, updated []string
	for n := range 3 {
		one, same = append(one, appOf("one", "", n+1)), append(same, appOf("same", "", n+1))
		updated = append(updated, appOf("updated", "VERSION", n+1))
	}
	version := func() string {
		_, after, _ := bytes.Cut(w.body, []byte(`"resourceVersion":"`))
		version, _, _ := bytes.Cut(after, []byte(`"`))
		return string(version)
	}
	created := 0
	return []appWrite{
		{"apply", 122, func(n int) string {
			return send(200, "PATCH", appsPath+"/one?fieldManager=a", applied, one[1+n%2])
		}},
		{"same", 84, func(int) string {
			return send(200, "PATCH", appsPath+"/same?fieldManager=a", applied, same[0])
		}},
		{"dry", 100, func(n int) string {
			return send(200, "PATCH", appsPath+"/same?fieldManager=a&dryRun=All", applied, same[1+n%2])
		}},
		{"merge", 120, func(n int) string {
			return send(200, "PATCH", appsPath+"/patched?fieldManager=load", merged, fmt.Sprintf(`{"spec":{"replicas":%d}}`, 2+n%2))
		}},
		{"update", 136, func(n int) string {
			if n == 0 {
				must(send(200, "GET", appsPath+"/updated", "", ""))
			}
			return send(200, "PUT", appsPath+"/updated?fieldManager=load", object, strings.Replace(updated[1+n%2], "VERSION", version(), 1))
		}},
		{"create", 186, func(int) string {
			created++
			return send(201, "POST", appsPath+"?fieldManager=load", object, strings.ReplaceAll(one[0], `"one"`, fmt.Sprintf(`"new-%d"`, created)))
		}},
		{"create and delete", 248, func(int) string {
			must(send(201, "POST", appsPath+"?fieldManager=load", object, strings.ReplaceAll(one[0], `"one"`, `"gone"`)))
			return send(200, "DELETE", appsPath+"/gone", "", "")
		}},
	}
}

// TestWritesCost counts the allocations of writes to objects of about 2 kB: rules do not see copies of them, and what a write does not change
// is neither decoded nor validated again. The bounds leave room for tables whose hashes collide, which differs from process to process.
func TestWritesCost(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates by itself")
	}
	for _, write := range appWrites(t) {
		n, got := 0, math.Inf(1)
		for range 4 { // a collection empties pools, so the least count is what a write needs
			got = min(got, testing.AllocsPerRun(100, func() {
				if wrong := write.send(n); wrong != "" {
					t.Fatal(wrong)
				}
				n++
			}))
		}
		if got > write.allocations {
			t.Errorf("%s: %v allocations, want at most %v", write.name, got, write.allocations)
		}
		t.Logf("%s: %v allocations", write.name, got)
	}
}

// BenchmarkWrites measures the same writes.
func BenchmarkWrites(b *testing.B) {
	for _, write := range appWrites(b) {
		b.Run(write.name, func(b *testing.B) {
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				if wrong := write.send(n); wrong != "" {
					b.Fatal(wrong)
				}
			}
		})
	}
}

// kept takes an answer, and keeps it: http.ResponseWriter.
type kept struct {
	header http.Header
	code   int
	body   []byte
}

func (k *kept) Header() http.Header  { return k.header }
func (k *kept) WriteHeader(code int) { k.code = code }
func (k *kept) Write(b []byte) (int, error) {
	k.body = append(k.body, b...)
	return len(b), nil
}
