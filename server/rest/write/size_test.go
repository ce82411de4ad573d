package write_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
)

// TestMaxObject refuses what is too large to be stored in the words of kube-apiserver, and leaves managed fields out where an object fits
// without them.
func TestMaxObject(t *testing.T) {
	s := servertest.New(t, server.Config{MaxObject: 10_000})
	var fields []string
	for i := range 450 {
		fields = append(fields, fmt.Sprintf(`"name-%d":""`, i))
	}
	object := func(data string) string {
		return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{` + data + `}}`
	}
	wide, long := object(strings.Join(fields, ",")), object(`"a":"`+strings.Repeat("x", 10_000)+`"`)
	huge := `{"metadata":{"name":"a"},"revision":1,"data":{"a":"` + strings.Repeat("x", 2_200_000) + `"}}`
	const path, maps = "/api/v1/namespaces/default/configmaps/a", "/api/v1/namespaces/default/configmaps"
	const tooLarge = "etcdserver: request is too large"
	for _, c := range []struct {
		name, method, path, media, body string
		code                            int
		says                            string
	}{
		{"a long text", "POST", maps, "application/json", long, 500, tooLarge},
		{"an apply of many fields", "PATCH", path + "?fieldManager=a", "application/apply-patch+yaml", wide, 500, tooLarge},
		{"many fields", "POST", maps, "application/json", wide, 201, "name-1"},
		{"many fields again", "PUT", path, "application/json", wide, 200, "name-1"},
		{"a patch", "PATCH", path, "application/merge-patch+json", `{"data":{"b":"x"}}`, 200, "name-1"},
		{"a patch that is too large", "PATCH", path, "application/merge-patch+json", long, 500, tooLarge},
		{"what no client of etcd sends", "POST", "/apis/apps/v1/namespaces/default/controllerrevisions", "application/json", huge, 500, "trying to send message larger than max (2200"},
	} {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.media)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if text := w.Body.String(); w.Code != c.code || !strings.Contains(text, c.says) || w.Code < 300 && strings.Contains(text, "fieldsV1") {
			t.Errorf("%s: %d %.300s", c.name, w.Code, text)
		}
	}
}

// TestDataTooLong refuses a ConfigMap and a Secret with more than a MiB of data.
func TestDataTooLong(t *testing.T) {
	s := servertest.New(t, server.Config{})
	long := strings.Repeat("x", 1<<20)
	for _, c := range []struct{ path, body, says string }{
		{"configmaps", `{"metadata":{"name":"a"},"data":{"a":"` + long + `"}}`, ""},
		{"configmaps", `{"metadata":{"name":"b"},"data":{"a":"x` + long + `"}}`, `ConfigMap \"b\" is invalid: []: Too long: may not be more than 1048576 bytes`},
		{"secrets", `{"metadata":{"name":"b"},"stringData":{"a":"x` + long + `"}}`, `Secret \"b\" is invalid: data: Too long: may not be more than 1048576 bytes`},
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("POST", "/api/v1/namespaces/default/"+c.path, strings.NewReader(c.body)))
		if text := w.Body.String(); (w.Code == 422) != (c.says != "") || !strings.Contains(text, c.says) {
			t.Errorf("%s: %d %.300s, want %s", c.path, w.Code, text, c.says)
		}
	}
}
