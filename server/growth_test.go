package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/deed-project/deed/server/registry/namespaces"
	"github.com/deed-project/deed/value"
)

// BenchmarkGrowth does things to few and to eight times as many: what takes much more than eight times as long grows too fast.
func BenchmarkGrowth(b *testing.B) {
	const objects = "/api/v1/namespaces/big/configmaps"
	list := func(n int, item string) string {
		var out strings.Builder
		for i := range n {
			out.WriteString("," + strings.ReplaceAll(item, "#", fmt.Sprint(i)))
		}
		return out.String()[1:]
	}
	send := func(b *testing.B, s *Server, code int, method, path, media, body string) {
		b.Helper()
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", media)
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != code {
			b.Fatalf("%s %s: %d %.300s", method, path, w.Code, w.Body)
		}
	}
	const typeJSON, merge, strategic = "application/json", "application/merge-patch+json", "application/strategic-merge-patch+json"
	container := func(env string) string {
		return `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i","env":[` + env + `]}]}}}}`
	}
	for _, c := range []struct {
		name    string
		few     int
		prepare func(b *testing.B, s *Server, n int)
		do      func(b *testing.B, s *Server, n int)
	}{
		{"define resources", 200, nil, func(b *testing.B, s *Server, n int) {
			for i := range n {
				if err := s.Create(b.Context(), thing(b, "things", fmt.Sprintf("g%d.org", i))); err != nil {
					b.Fatal(err)
				}
			}
		}},
		{"delete a namespace of objects", 1000, func(b *testing.B, s *Server, n int) {
			for i := range n {
				send(b, s, http.StatusCreated, "POST", objects, typeJSON, fmt.Sprintf(`{"metadata":{"name":"o%d"}}`, i))
			}
		}, func(b *testing.B, s *Server, _ int) {
			send(b, s, http.StatusOK, "DELETE", "/api/v1/namespaces/big", typeJSON, "")
			for s.client.Send(b.Context(), http.MethodGet, "/api/v1/namespaces/big", value.Value{}) == nil {
			}
		}},
		{"refuse faults", 1000, nil, func(b *testing.B, s *Server, n int) {
			send(b, s, http.StatusUnprocessableEntity, "POST", objects, typeJSON, `{"metadata":{"name":"o","labels":{`+list(n, `"-l#":"v"`)+`}}}`)
		}},
		{"create with owners", 1000, nil, func(b *testing.B, s *Server, n int) {
			owners := list(n, `{"apiVersion":"v1","kind":"Pod","name":"p#","uid":"u#"}`)
			send(b, s, http.StatusCreated, "POST", objects, typeJSON, `{"metadata":{"name":"o","ownerReferences":[`+owners+`]}}`)
		}},
		{"profiles of containers in annotations", 500, nil, func(b *testing.B, s *Server, n int) {
			annotations := list(n, `"container.apparmor.security.beta.kubernetes.io/c#":"unconfined"`)
			spec := `{"containers":[` + list(n, `{"name":"c#","image":"i","securityContext":{"appArmorProfile":{"type":"Unconfined"}}}`) + `]}`
			send(b, s, http.StatusCreated, "POST", "/api/v1/namespaces/big/pods", typeJSON,
				`{"metadata":{"name":"o","annotations":{`+annotations+`}},"spec":`+spec+`}`)
		}},
		{"change members by a merge patch", 1000, func(b *testing.B, s *Server, n int) {
			send(b, s, http.StatusCreated, "POST", objects, typeJSON, `{"metadata":{"name":"o"},"data":{`+list(n, `"k#":"v"`)+`}}`)
		}, func(b *testing.B, s *Server, n int) {
			send(b, s, http.StatusOK, "PATCH", objects+"/o", merge, `{"data":{`+list(n, `"k#":"w"`)+`}}`)
		}},
		{"change items by a strategic merge patch", 1000, func(b *testing.B, s *Server, n int) {
			spec := container(list(n, `{"name":"E#","value":"v"}`))
			spec = strings.Replace(spec, `{"spec":{`, `{"metadata":{"name":"o"},"spec":{"selector":{"matchLabels":{"a":"b"}},`, 1)
			spec = strings.Replace(spec, `"template":{`, `"template":{"metadata":{"labels":{"a":"b"}},`, 1)
			send(b, s, http.StatusCreated, "POST", "/apis/apps/v1/namespaces/big/deployments", typeJSON, spec)
		}, func(b *testing.B, s *Server, n int) {
			patch := container(list(n, `{"name":"E#","value":"w"}`))
			send(b, s, http.StatusOK, "PATCH", "/apis/apps/v1/namespaces/big/deployments/o", strategic, patch)
		}},
	} {
		for _, n := range []int{c.few, 8 * c.few} {
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					s, err := New(Config{Objects: []value.Value{namespaces.New("big")}})
					if err != nil {
						b.Fatal(err)
					}
					if c.prepare != nil {
						c.prepare(b, s, n)
					}
					b.StartTimer()
					c.do(b, s, n)
					b.StopTimer()
					s.Close()
					b.StartTimer()
				}
			})
		}
	}
}
