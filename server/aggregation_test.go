package server_test

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// aggregationFile has what a kube-apiserver answered with other API servers behind it.
const aggregationFile = "testdata/aggregation.txt"

// extension returns an API server of the group ext.example.io. A modern one has aggregated discovery and OpenAPI v3; both kinds answer requests
// for things with what arrives.
func extension(t *testing.T, group string, modern bool) *httptest.Server {
	root := "/apis/" + group + "/v1"
	resources := `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"` + group + `/v1","resources":[
		{"name":"things","singularName":"thing","namespaced":true,"kind":"Thing","verbs":["create","delete","deletecollection","get","list","watch"],"shortNames":["th"]},
		{"name":"things/status","singularName":"","namespaced":true,"kind":"Thing","verbs":["get"]}]}`
	discovered := `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[{"metadata":{"name":"` + group + `"},"versions":[
		{"version":"v2","resources":[{"resource":"others","scope":"Cluster","verbs":["get"]}]},
		{"version":"v1","freshness":"Current","resources":[{"resource":"things","responseKind":{"group":"","version":"","kind":"Thing"},"scope":"Namespaced",
		"singularResource":"thing","verbs":["get","list"],"shortNames":["th"],"subresources":[{"subresource":"status","verbs":["get"]}]}]}]}]}`
	v2 := `{"swagger":"2.0","info":{"title":"Extension","version":"1"},"paths":{"` + root + `/namespaces/{namespace}/things":{"get":{"operationId":"list","responses":{"200":
		{"description":"OK","schema":{"$ref":"#/definitions/io.example.Thing"}}}}},"/apis/other.example.io/v1/":{}},"definitions":{"io.example.Thing":{"type":"object",
		"properties":{"metadata":{"$ref":"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}}},"io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta":{"type":"object",
		"description":"another one"},"io.example.Unused":{"type":"object"}}}`
	v3 := `{"openapi":"3.0.0","info":{"title":"Extension","version":"1"},"paths":{},"components":{"schemas":{}}}`
	mux := http.NewServeMux()
	text := func(path, media, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", media)
			fmt.Fprint(w, body)
		})
	}
	text(root, wire.JSON, resources)
	text("/openapi/v2", wire.JSON, v2)
	if modern {
		text("/apis", wire.JSON+aggregatedParams, discovered)
		text("/openapi/v3", wire.JSON, `{"paths":{"`+root[1:]+`":{"serverRelativeURL":"/openapi/v3`+root+`?hash=1"}}}`)
		text("/openapi/v3"+root, wire.JSON, v3)
	}
	mux.HandleFunc(root+"/", func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Query().Get("watch") != "":
			for i := range 2 {
				fmt.Fprintf(w, "{\"type\":\"ADDED\",\"object\":{\"n\":%d}}\n", i)
				w.(http.Flusher).Flush()
			}
		case strings.HasSuffix(r.URL.Path, "/away"):
			http.Redirect(w, r, "https://example.org/", http.StatusFound)
		case strings.HasSuffix(r.URL.Path, "/exec"):
			connection, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer connection.Close()
			fmt.Fprintf(connection, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello %s\n", r.Header.Get("X-Remote-User"))
			_, _ = io.Copy(connection, connection) // until the client is gone
		default:
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			headers := map[string][]string{}
			for name, values := range r.Header {
				if strings.HasPrefix(name, "X-Remote-") || strings.HasPrefix(name, "Impersonate-") || name == "Authorization" || name == "Content-Type" {
					headers[name] = slices.Sorted(slices.Values(values))
				}
			}
			w.Header().Set("Content-Type", wire.JSON)
			w.WriteHeader(http.StatusCreated)
			if err := json.NewEncoder(w).Encode(map[string]any{"method": r.Method, "uri": r.URL.RequestURI(), "headers": headers, "body": string(body)}); err != nil {
				t.Error(err)
			}
		}
	})
	s := httptest.NewUnstartedServer(mux)
	s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// portOf returns the port of a server.
func portOf(t *testing.T, s *httptest.Server) string {
	t.Helper()
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return at.Port()
}

// TestAggregation puts API servers behind this one: one that is modern, one that is old, and some that cannot be reached. Answers are those of a
// kube-apiserver, which DEED_PEER asks and records.
func TestAggregation(t *testing.T) {
	peer := os.Getenv("DEED_PEER")
	s := servertest.New(t, server.Config{Authenticate: asAdmin})
	ask := func(request, body string) *httptest.ResponseRecorder { return servertest.Ask(s, request, body) }
	if peer != "" {
		ask = func(request, body string) *httptest.ResponseRecorder { return askPeer(t, peer, request, body) }
	}
	closed := httptest.NewTLSServer(nil)
	ports := map[string]string{
		"MODERN": portOf(t, extension(t, "ext.example.io", true)), "LEGACY": portOf(t, extension(t, "old.example.io", false)), "CLOSED": portOf(t, closed),
	}
	closed.Close()
	text, err := os.ReadFile(aggregationFile)
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(strings.TrimSpace(string(text)), "\n\n")
	fill, empty := []string{}, []string{}
	for name, port := range ports {
		fill, empty = append(fill, name, port), append(empty, ":"+port, ":"+name, `"port":`+port, `"port":`+name)
	}
	filled, named := strings.NewReplacer(fill...), strings.NewReplacer(empty...)
	for i, block := range blocks {
		request, rest, _ := strings.Cut(block, "\n")
		var body, want string
		for line := range strings.Lines(rest) {
			if sent, is := strings.CutPrefix(line, "< "); is {
				body = strings.TrimSpace(sent)
			} else if answer, is := strings.CutPrefix(line, "> "); is {
				want = strings.TrimSpace(answer)
			}
		}
		if until, is := strings.CutPrefix(request, "AWAIT "); is {
			sought, found, _ := strings.Cut(until, " HAS ")
			servertest.Await(t, func() bool { return strings.Contains(ask(sought, "").Body.String(), found) })
			continue
		}
		if strings.HasPrefix(request, "#") {
			continue
		}
		got := strings.TrimSpace(named.Replace(answerLine(of(request, ask(request, filled.Replace(body))))))
		if peer != "" {
			lines := []string{request}
			if body != "" {
				lines = append(lines, "< "+body)
			}
			blocks[i] = strings.Join(append(lines, "> "+got), "\n")
		} else if got != want {
			t.Errorf("%s\n< %s\n got %s\nwant %s", request, body, got, want)
		}
	}
	if peer != "" {
		if err := os.WriteFile(aggregationFile, []byte(strings.Join(blocks, "\n\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// of returns an answer with what is about other API servers: of OpenAPI documents, what is not Kubernetes'. Managers of an APIService are in the
// order of their names, because their times may differ or not.
func of(request string, w *httptest.ResponseRecorder) *httptest.ResponseRecorder {
	document, err := value.Parse(w.Body.Bytes())
	if entries := document.Get("metadata", "managedFields"); err == nil && !entries.IsAbsent() {
		sorted := slices.SortedFunc(entries.Items(), func(a, b value.Value) int { return strings.Compare(b.Get("manager").Str(), a.Get("manager").Str()) })
		answer := httptest.NewRecorder()
		answer.WriteHeader(w.Code)
		answer.Body.WriteString(document.With("metadata", document.Get("metadata").With("managedFields", value.List(sorted...))).String())
		return answer
	}
	if err != nil || !strings.Contains(request, "/openapi/v") || strings.Contains(request, "example") {
		return w
	}
	keep := func(name string) bool {
		return strings.Contains(name, "example.io") || strings.Contains(name, "io.example") || strings.HasSuffix(name, "ObjectMeta_v2")
	}
	out := value.Object()
	for _, part := range []string{"paths", "definitions"} {
		of := value.Object()
		for name, member := range document.Get(part).Members() {
			if keep(name) {
				of = of.With(name, member)
			}
		}
		out = out.With(part, of)
	}
	answer := httptest.NewRecorder()
	answer.WriteHeader(w.Code)
	answer.Body.WriteString(out.String())
	return answer
}

// TestRemoteNamespace deletes a namespace in which another API server has an object. The namespace goes when the object is gone. If the other
// server cannot be reached, another namespace goes when its APIService is gone.
func TestRemoteNamespace(t *testing.T) {
	var things, deletions atomic.Int64
	things.Store(1)
	const root = "/apis/ext.example.io/v1"
	other := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", wire.JSON)
		switch {
		case r.URL.Path == root:
			fmt.Fprint(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"ext.example.io/v1","resources":[
				{"name":"things","namespaced":true,"kind":"Thing","verbs":["deletecollection","list"]},
				{"name":"globals","namespaced":false,"kind":"Global","verbs":["deletecollection","list"]}]}`)
		case r.URL.Path != root+"/namespaces/doomed/things":
			http.NotFound(w, r)
		case r.Method == http.MethodDelete:
			if deletions.Add(1) == 2 {
				things.Store(0) // the first one only marks it
			}
			fmt.Fprint(w, `{}`)
		default:
			fmt.Fprint(w, `{"items":[`+strings.Repeat("{}", int(things.Load()))+`]}`)
		}
	}))
	defer other.Close()
	s := servertest.New(t, server.Config{Webhooks: server.Webhooks{Resolve: map[string]string{"ext.default": other.Listener.Addr().String()}}})
	servertest.Create(t, s, "/api/v1/namespaces", `{"metadata":{"name":"doomed"}}`)
	servertest.Create(t, s, "/apis/apiregistration.k8s.io/v1/apiservices", `{"metadata":{"name":"v1.ext.example.io"},"spec":{"group":"ext.example.io","version":"v1",
		"groupPriorityMinimum":10,"versionPriority":1,"insecureSkipTLSVerify":true,"service":{"name":"ext","namespace":"default"}}}`)
	servertest.Await(t, func() bool {
		return strings.Contains(servertest.Ask(s, "GET /apis Accept=application/json"+aggregatedParams, "").Body.String(), `"things"`)
	})
	if code, v := servertest.Send(t, s, http.MethodDelete, "/api/v1/namespaces/doomed", ""); code != http.StatusOK {
		t.Fatalf("%d %v", code, v)
	}
	servertest.Await(t, func() bool {
		code, _ := servertest.Send(t, s, http.MethodGet, "/api/v1/namespaces/doomed", "")
		return code == http.StatusNotFound
	})
	if deletions.Load() < 2 || things.Load() != 0 {
		t.Errorf("the namespace is gone after %d deletions with %d things", deletions.Load(), things.Load())
	}
	other.Close()
	const apiService = "/apis/apiregistration.k8s.io/v1/apiservices/v1.ext.example.io"
	if code, v := servertest.Send(t, s, http.MethodPatch, apiService, `{"metadata":{"labels":{"checked":"again"}}}`); code != http.StatusOK {
		t.Fatalf("%d %v", code, v)
	}
	servertest.Await(t, func() bool {
		_, v := servertest.Send(t, s, http.MethodGet, apiService, "")
		return v.Get("status", "conditions").Item(0).Get("status").Str() == "False"
	})
	servertest.Create(t, s, "/api/v1/namespaces", `{"metadata":{"name":"held"}}`)
	if code, v := servertest.Send(t, s, http.MethodDelete, "/api/v1/namespaces/held", ""); code != http.StatusOK {
		t.Fatalf("%d %v", code, v)
	}
	const why = "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: " +
		"ext.example.io/v1: stale GroupVersion discovery: ext.example.io/v1"
	servertest.Await(t, func() bool {
		_, v := servertest.Send(t, s, http.MethodGet, "/api/v1/namespaces/held", "")
		first := v.Get("status", "conditions").Item(0)
		return first.Get("type").Str() == "NamespaceDeletionDiscoveryFailure" && first.Get("status").Str() == "True" && first.Get("message").Str() == why
	})
	metrics := servertest.Ask(s, "GET /metrics", "").Body.String()
	for _, want := range []string{
		`aggregator_unavailable_apiservice{name="v1."} 0`, `aggregator_unavailable_apiservice{name="v1.ext.example.io"} 1`,
		`aggregator_unavailable_apiservice_total{name="v1.ext.example.io",reason="FailedDiscoveryCheck"} 1`,
	} {
		if !strings.Contains(metrics, want+"\n") {
			t.Errorf("the metrics lack %s", want)
		}
	}
	if code, v := servertest.Send(t, s, http.MethodDelete, apiService, ""); code != http.StatusOK {
		t.Fatalf("%d %v", code, v)
	}
	servertest.Await(t, func() bool {
		code, _ := servertest.Send(t, s, http.MethodGet, "/api/v1/namespaces/held", "")
		return code == http.StatusNotFound
	})
}

// TestRemoteGarbage has a thing of another API server that a ConfigMap owns, and a ConfigMap that another thing owns. Each goes with its owner.
func TestRemoteGarbage(t *testing.T) {
	const root = "/apis/ext.example.io/v1"
	gone, deleted := make(chan struct{}), make(chan string, 1)
	var owner atomic.Value // UID of the ConfigMap
	thing := func(name string) string {
		owners := ""
		if name == "owned" {
			owners = fmt.Sprintf(`,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":%q}]`, owner.Load())
		}
		return fmt.Sprintf(`{"apiVersion":"ext.example.io/v1","kind":"Thing","metadata":{"name":%q,"namespace":"default","uid":"uid-%[1]s"%s}}`, name, owners)
	}
	other := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", wire.JSON)
		name, isOne := strings.CutPrefix(r.URL.Path, root+"/namespaces/default/things/")
		isGone := false
		select {
		case <-gone:
			isGone = true
		default:
		}
		switch {
		case r.URL.Path == root:
			fmt.Fprint(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"ext.example.io/v1","resources":[
				{"name":"things","namespaced":true,"kind":"Thing","verbs":["delete","get","list","watch"]}]}`)
		case r.URL.Path == root+"/things" && r.URL.Query().Get("watch") != "":
			w.(http.Flusher).Flush()
			select {
			case <-gone:
				fmt.Fprintf(w, `{"type":"DELETED","object":%s}`+"\n", thing("owner"))
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
			<-r.Context().Done()
		case r.URL.Path == root+"/things":
			fmt.Fprintf(w, `{"metadata":{"resourceVersion":"7"},"items":[%s,%s]}`, thing("owned"), thing("owner"))
		case isOne && r.Method == http.MethodDelete:
			select {
			case deleted <- name:
			default: // a second deletion of the same thing
			}
			fmt.Fprint(w, `{}`)
		case isOne && !(isGone && name == "owner"):
			fmt.Fprint(w, thing(name))
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
		}
	}))
	s := servertest.New(t, server.Config{
		Controllers: []string{"garbage-collector-controller"}, Webhooks: server.Webhooks{Resolve: map[string]string{"ext.default": other.Listener.Addr().String()}},
	})
	defer func() {
		other.CloseClientConnections() // the watch goes on
		other.Close()
	}()
	_, local := servertest.Send(t, s, http.MethodPost, servertest.MapsPath, `{"metadata":{"name":"owner"}}`)
	owner.Store(local.Get("metadata", "uid").Str())
	servertest.Create(t, s, servertest.MapsPath, `{"metadata":{"name":"owned","ownerReferences":[
		{"apiVersion":"ext.example.io/v1","kind":"Thing","name":"owner","uid":"uid-owner"}]}}`)
	servertest.Create(t, s, "/apis/apiregistration.k8s.io/v1/apiservices", `{"metadata":{"name":"v1.ext.example.io"},"spec":{"group":"ext.example.io","version":"v1",
		"groupPriorityMinimum":10,"versionPriority":1,"insecureSkipTLSVerify":true,"service":{"name":"ext","namespace":"default"}}}`)
	servertest.Await(t, func() bool {
		return strings.Contains(servertest.Ask(s, "GET /apis Accept=application/json"+aggregatedParams, "").Body.String(), `"things"`)
	})
	if code, v := servertest.Send(t, s, http.MethodDelete, servertest.MapsPath+"/owner", ""); code != http.StatusOK {
		t.Fatalf("%d %v", code, v)
	}
	if got := <-deleted; got != "owned" {
		t.Errorf("the thing %s is deleted", got)
	}
	if code, v := servertest.Send(t, s, http.MethodGet, servertest.MapsPath+"/owned", ""); code != http.StatusOK {
		t.Errorf("the ConfigMap of a thing that exists: %d %v", code, v)
	}
	close(gone)
	servertest.Await(t, func() bool {
		code, _ := servertest.Send(t, s, http.MethodGet, servertest.MapsPath+"/owned", "")
		return code == http.StatusNotFound
	})
}

// TestUpgrade opens a connection of another protocol through the server.
func TestUpgrade(t *testing.T) {
	s := servertest.New(t, server.Config{Authenticate: asAdmin})
	port := portOf(t, extension(t, "ext.example.io", true))
	servertest.Create(t, s, "/api/v1/namespaces/default/services", `{"metadata":{"name":"ext"},"spec":{"type":"ExternalName","externalName":"localhost"}}`)
	servertest.Create(t, s, "/apis/apiregistration.k8s.io/v1/apiservices", `{"metadata":{"name":"v1.ext.example.io"},"spec":{"group":"ext.example.io","version":"v1",
		"groupPriorityMinimum":10,"versionPriority":1,"insecureSkipTLSVerify":true,"service":{"name":"ext","namespace":"default","port":`+port+`}}}`)
	const at = "/apis/ext.example.io/v1/namespaces/default/things/a/exec"
	servertest.Await(t, func() bool {
		return servertest.Ask(s, "GET /apis/ext.example.io/v1", "").Code == http.StatusOK
	})
	front := httptest.NewServer(s)
	defer front.Close()
	connection, err := net.Dial("tcp", strings.TrimPrefix(front.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\nAuthorization: Bearer tok\r\n\r\n", at)
	var got strings.Builder
	for sent := false; !strings.Contains(got.String(), "again\n"); {
		part := make([]byte, 1024)
		n, err := connection.Read(part)
		if got.Write(part[:n]); err != nil {
			t.Fatalf("%q: %v", got.String(), err)
		}
		if !sent && strings.Contains(got.String(), "hello admin\n") {
			sent = true
			fmt.Fprint(connection, "again\n")
		}
	}
	if !strings.HasPrefix(got.String(), "HTTP/1.1 101 ") {
		t.Errorf("the connection begins with %q", got.String())
	}
}
