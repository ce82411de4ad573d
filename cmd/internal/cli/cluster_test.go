package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/server/apitest"
)

// reader may get objects, and nothing else: no list, no watch, no write.
const reader = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules:
- {apiGroups: ["*"], resources: ["*"], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: no-definitions}
rules:
- {apiGroups: ["", apps, example.org], resources: ["*"], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: reader}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: no-definitions}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: no-definitions}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: outsider}]
`

const inCluster = `
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "nginx:1.28"}]}
---
apiVersion: v1
kind: Secret
metadata: {name: key, namespace: shop}
stringData: {token: hunter2}
---
apiVersion: example.org/v1
kind: Cron
metadata: {name: nightly, namespace: shop}
spec: {schedule: "0 3 * * *"}
`

// clusterFixture is a server, and users of it.
type clusterFixture struct {
	*apitest.Server
	t      *testing.T
	dir    string
	url    string // of a proxy that notes the requests
	mu     sync.Mutex
	called []string // methods and paths
}

func newClusterFixture(t *testing.T) *clusterFixture {
	k := &clusterFixture{t: t, dir: t.TempDir()}
	t.Setenv("XDG_CACHE_HOME", filepath.Join(k.dir, "cache"))
	k.Server = apitest.Start(t, apitest.RBAC(), apitest.Clock(func() time.Time { return time.Unix(1767225600, 0).Add(-48 * time.Hour) }), apitest.CRDs("../../../testdata/docs/crd.yaml"), apitest.YAML(reader))
	k.Apply(inCluster)
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.called = append(k.called, r.In.Method+" "+r.In.URL.Path)
			r.Out.URL.Scheme, r.Out.URL.Host = "https", "server"
		},
		Transport: k.Transport(),
	})
	t.Cleanup(proxy.Close)
	k.url = proxy.URL
	return k
}

// as returns a kubeconfig for a user whose context has the namespace shop.
func (k *clusterFixture) as(user string) string {
	k.t.Helper()
	return k.write(user+".kubeconfig", fmt.Sprintf(`{"current-context": "it", "clusters": [{"name": "it", "cluster": {"server": %q}}],
"users": [{"name": "it", "user": {"as": %q}}], "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it", "namespace": "shop"}}]}`, k.url, user))
}

// deed runs a command as a user. It returns what the command prints, with its messages in front, and the requests that it sent.
func (k *clusterFixture) deed(user string, code int, args ...string) (text string, requests []string) {
	k.t.Helper()
	args = append(args, "--kubeconfig", k.as(user))
	k.mu.Lock()
	k.called = nil
	k.mu.Unlock()
	var out, errs bytes.Buffer
	if got := Run(args, strings.NewReader(""), &out, &errs); got != code {
		k.t.Errorf("deed %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, &errs, &out)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, call := range k.called {
		if !strings.HasPrefix(call, "GET ") {
			k.t.Errorf("deed %s: sent %s", strings.Join(args, " "), call)
		}
	}
	return errs.String() + out.String(), slices.Clone(k.called)
}

// wants checks that text has all parts.
func (k *clusterFixture) wants(text string, parts ...string) {
	k.t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			k.t.Errorf("no %q in:\n%s", part, text)
		}
	}
}

// write writes a file, and returns its name.
func (k *clusterFixture) write(name, text string) string {
	k.t.Helper()
	file := filepath.Join(k.dir, name)
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		k.t.Fatal(err)
	}
	return file
}

// TestClusterObjects checks that commands about stored objects read them from a cluster as a user who may get objects and nothing else.
func TestClusterObjects(t *testing.T) {
	k := newClusterFixture(t)
	text, calls := k.deed("reader", notice.ExitDone, "blame", "deployment/web")
	k.wants(text, "apitest Apply", "│   replicas: 2", "image: nginx:1.28")
	if want := []string{"GET /apis/apps/v1/namespaces/shop/deployments/web"}; !slices.Equal(calls, want) {
		t.Errorf("blame sent %q, want %q", calls, want)
	}
	text, _ = k.deed("reader", notice.ExitDone, "blame", "secret", "key", "--live", "cluster")
	k.wants(text, "token: '***'")
	if strings.Contains(text, "aHVudGVyMg") {
		t.Errorf("a secret is shown:\n%s", text)
	}
	text, _ = k.deed("reader", notice.ExitDone, "explain", "deploy/web", ".spec.replicas")
	k.wants(text, `"apitest"`, "shop/deployments.apps/web")
	text, _ = k.deed("reader", notice.ExitDone, "fields", "deploy/web", "--manager", "apitest")
	k.wants(text, ".spec.replicas")
	k.deed("reader", notice.ExitDone, "check", "deploy/web")
	text, _ = k.deed("reader", notice.ExitDone, "extract", "deploy/web", "--field-manager", "apitest")
	k.wants(text, "replicas: 2")

	text, calls = k.deed("reader", notice.ExitDone, "blame", "cron/nightly")
	k.wants(text, "schedule: 0 3 * * *")
	if len(calls) != 3 {
		t.Errorf("a custom resource takes the requests %q, and not 3: discovery, the object and the definition", calls)
	}
	text, _ = k.deed("reader", notice.ExitInput, "blame", "deployment/wbe")
	k.wants(text, `no object in the cluster is deployments.apps/wbe in the namespace "shop"`)
	text, _ = k.deed("reader", notice.ExitInput, "blame", "nothing/web")
	k.wants(text, `the cluster has no kind called "nothing"`)
	text, _ = k.deed("reader", notice.ExitInput, "blame", "deployments")
	k.wants(text, `User "reader" cannot list resource "deployments"`)
	text, _ = k.deed("reader", notice.ExitInput, "blame", "deployments", "-A")
	k.wants(text, `User "reader" cannot list resource "deployments" in API group "apps" at the cluster scope`)
	k.Apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: web}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: shop}}")
	text, _ = k.deed("", notice.ExitDone, "fields", "configmap/web", "-A")
	k.wants(text, "cluster/default/configmaps/web", "cluster/shop/configmaps/web")
	text, _ = k.deed("", notice.ExitInput, "fields", "configmap/web", "-A", "-n", "shop")
	k.wants(text, "--all-namespaces and --namespace exclude each other")
	text, _ = k.deed("reader", notice.ExitInput, "blame", "deployment/web", "-f", "x.yaml")
	k.wants(text, "the stored objects come from files")
}

// TestClusterDocuments checks that a user who may not read definitions gets types from OpenAPI documents, which are fetched once.
func TestClusterDocuments(t *testing.T) {
	k := newClusterFixture(t)
	document := "GET /openapi/v3/apis/example.org/v1"
	for i, want := range []bool{true, false} {
		text, calls := k.deed("outsider", notice.ExitDone, "explain", "cron/nightly", ".spec.jobs", "-v")
		k.wants(text, "published in cluster/openapi/v3/example.org/v1")
		if slices.Contains(calls, document) != want {
			t.Errorf("run %d sent %q", i, calls)
		}
	}
	files, err := filepath.Glob(filepath.Join(k.dir, "cache", "deed", "openapi", "*", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the cache has %q: %v", files, err)
	}
	if err := os.WriteFile(files[0], []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, calls := k.deed("outsider", notice.ExitDone, "explain", "cron/nightly", ".spec.jobs"); !slices.Contains(calls, document) {
		t.Errorf("a damaged document in the cache was used: %q", calls)
	}
}

// TestClusterConfigs checks that plan and diff compare configurations with a cluster.
func TestClusterConfigs(t *testing.T) {
	k := newClusterFixture(t)
	web := k.write("web.yaml", strings.NewReplacer("replicas: 2", "replicas: 3", ", namespace: shop", "").Replace(inCluster[strings.Index(inCluster, "---"):]))
	text, calls := k.deed("reader", notice.ExitFinding, "plan", "-f", web, "--live", "cluster", "--field-manager", "ci")
	k.wants(text, "3 objects, 0 created", "conflicting  .spec.replicas: 2 becomes 3", `owned by "apitest" (Apply)`)
	if len(calls) != 5 {
		t.Errorf("3 objects take the requests %q, and not 5: the objects, discovery and the definition", calls)
	}
	text, _ = k.deed("reader", notice.ExitFinding, "diff", "-f", web, "--live", "cluster", "--field-manager", "apitest", "-o", "json")
	k.wants(text, `".spec.replicas"`)
	if strings.Contains(text, "hunter2") {
		t.Errorf("a secret is shown:\n%s", text)
	}
	created := k.write("new.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: new}, data: {a: b}}")
	text, _ = k.deed("reader", notice.ExitDone, "plan", "-f", created)
	k.wants(text, "1 object, 1 created", "ConfigMap shop/new")
	text, _ = k.deed("outsider", notice.ExitInput, "plan", "-f", k.write("role.yaml",
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: new}}"), "-f", created)
	k.wants(text, `User "outsider" cannot get resource "roles"`, "1 not planned", "1 created")
	text, _ = k.deed("reader", notice.ExitInput, "apply", "-f", web, "--live", "cluster", "--write")
	k.wants(text, "a cluster is only read")
}

// TestClusterForbidden checks that a configuration without a namespace is not planned if its object may not be read, although another object of
// its kind may. One message says so.
func TestClusterForbidden(t *testing.T) {
	k := newClusterFixture(t)
	k.Apply(`
{apiVersion: v1, kind: ConfigMap, metadata: {name: closed, namespace: shop}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: open, namespace: shop}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: one, namespace: shop}
rules: [{apiGroups: [""], resources: [configmaps], resourceNames: [open], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: one, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: one}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: guest}]
`)
	both := k.write("both.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: closed}, data: {a: b}}\n---\n"+
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: open}, data: {a: b}}\n")
	text, _ := k.deed("guest", notice.ExitInput, "plan", "-f", both)
	k.wants(text, `configmaps "closed" is forbidden`, "2 objects, 0 created, 0 without change, 1 not planned; 1 problem with reading", "ConfigMap shop/open")
	if strings.Contains(text, "may be stored") || strings.Contains(text, "no metadata.managedFields") {
		t.Errorf("more than one message:\n%s", text)
	}
	unknown := k.write("unknown.yaml", "{apiVersion: acme.io/v1, kind: Widget, metadata: {name: a}}")
	text, _ = k.deed("reader", notice.ExitInput, "plan", "-f", unknown)
	k.wants(text, "the cluster has no kind Widget in acme.io/v1: if its CustomResourceDefinition is applied first, name that with -f, too")
	if strings.Contains(text, "no schema describes") {
		t.Errorf("more than one message:\n%s", text)
	}
	text, _ = k.deed("", notice.ExitInput, "blame", "statefulsets")
	k.wants(text, `no object in the cluster is statefulsets in the namespace "shop"`)
}

// TestClusterUser checks that flags choose the user of the requests, and that they do not go with files.
func TestClusterUser(t *testing.T) {
	var sent http.Header
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = r.Header
		w.WriteHeader(http.StatusForbidden)
	}))
	defer server.Close()
	k := &clusterFixture{t: t, dir: t.TempDir(), url: server.URL}
	config := k.write("config", fmt.Sprintf(`{"current-context": "it", "clusters": [{"name": "it", "cluster": {"server": %q, "insecure-skip-tls-verify": true}}],
"users": [{"name": "it", "user": {"token": "old"}}], "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}]}`, k.url))
	t.Setenv("KUBECONFIG", config)
	args := []string{"blame", "deployment/web", "--token", "new", "--as", "jane", "--as-group", "dev", "--as-group", "ops"}
	if got := Run(args, strings.NewReader(""), io.Discard, io.Discard); got != notice.ExitInput {
		t.Errorf("exit code %d", got)
	}
	user := fmt.Sprint(sent["Authorization"], sent["Impersonate-User"], sent["Impersonate-Group"])
	if want := "[Bearer new] [jane] [dev ops]"; user != want {
		t.Errorf("the request is from %s, want %s", user, want)
	}
	var errs bytes.Buffer
	if got := Run([]string{"blame", "-f", "web.yaml", "--as", "jane"}, strings.NewReader(""), io.Discard, &errs); got != notice.ExitInput {
		t.Errorf("exit code %d", got)
	}
	k.wants(errs.String(), "--as and --as-group are for --live cluster, and the stored objects come from files")
}

// TestClusterFailures checks the messages about servers that give no object. They do not point at the help of the command.
func TestClusterFailures(t *testing.T) {
	for name, c := range map[string]struct {
		code       int
		body, want string
	}{
		"credentials": {
			401, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`,
			"URL does not accept the credentials of the kubeconfig: log in again, or name another context with --context",
		},
		"proxy":  {502, "<html>", "URL answers 502 Bad Gateway without a Status of Kubernetes: is it the address of an API server?"},
		"Status": {500, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"etcd is away","code":500}`, "etcd is away"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.code)
				fmt.Fprint(w, c.body)
			}))
			defer server.Close()
			k := &clusterFixture{t: t, dir: t.TempDir(), url: server.URL}
			t.Setenv("XDG_CACHE_HOME", filepath.Join(k.dir, "cache"))
			text, _ := k.deed("reader", notice.ExitInput, "blame", "deployment/web")
			if want := "deed blame: " + strings.ReplaceAll(c.want, "URL", server.URL) + "\n"; text != want {
				t.Errorf("got %q, want %q", text, want)
			}
		})
	}
}

// TestClusterInventory checks the migration of what tools list.
func TestClusterInventory(t *testing.T) {
	k := newClusterFixture(t)
	release := helmSecret(t, `{"name":"web","namespace":"shop","version":2,"manifest":"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {a: b}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: gone}\n"}`)
	k.Apply(fmt.Sprintf("{apiVersion: v1, kind: Secret, metadata: {name: sh.helm.release.v1.web.v2, namespace: shop, labels: {owner: helm, name: web, status: deployed, version: \"2\"}}, type: helm.sh/release.v1, data: {release: %s}}", release))
	k.update("helm", "/api/v1/namespaces/shop/configmaps", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web"},"data":{"a":"b"}}`)
	text, _ := k.deed("reader", notice.ExitDone, "migrate", "--inventory", "secret/sh.helm.release.v1.web.v2", "-o", "kubectl")
	k.wants(text, "cluster: warning: ConfigMap shop/gone is in the inventory, and not in the cluster", "kubectl patch configmap web -n shop")
	text, _ = k.deed("reader", notice.ExitDone, "migrate", "--inventory", "secret/sh.helm.release.v1.web.v2")
	k.wants(text, "helm Update -> helm Apply")
	text, _ = k.deed("reader", notice.ExitInput, "migrate", "--inventory", "release/web")
	k.wants(text, `User "reader" cannot list resource "secrets"`, "name the Secret of a revision, such as secret/sh.helm.release.v1.web.v1")
	text, _ = k.deed("", notice.ExitDone, "migrate", "--inventory", "release/web", "-n", "shop")
	k.wants(text, "helm Update -> helm Apply")
	text, _ = k.deed("reader", notice.ExitInput, "migrate", "--inventory", "cm/web")
	k.wants(text, "records no inventory of Flux, Argo CD or Helm")
	text, _ = k.deed("reader", notice.ExitDone, "transfer", "cm/web", "--from", "helm", "--to", "flux")
	k.wants(text, "helm Update -> flux Apply")
	k.patch("apitest", "/api/v1/namespaces/shop/configmaps/web",
		`{"metadata":{"managedFields":[{"manager":"helm","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a":{}}}}]}}`)
	text, _ = k.deed("reader", notice.ExitDone, "migrate", "--inventory", "secret/sh.helm.release.v1.web.v2")
	k.wants(text, "ConfigMap shop/web: nothing to migrate: there are no updates by helm")
}

// update creates an object by a POST of a manager.
func (k *clusterFixture) update(manager, path, body string) {
	k.t.Helper()
	k.send(http.MethodPost, "application/json", manager, path, body)
}

// send sends a write of a manager.
func (k *clusterFixture) send(method, media, manager, path, body string) {
	k.t.Helper()
	r, err := http.NewRequest(method, "https://server"+path+"?fieldManager="+manager, strings.NewReader(body))
	if err != nil {
		k.t.Fatal(err)
	}
	r.Header.Set("Content-Type", media)
	answer, err := k.Transport().RoundTrip(r)
	if err != nil {
		k.t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode > http.StatusCreated {
		k.t.Fatalf("%s: %s", path, answer.Status)
	}
}

// helmSecret returns a release as Helm keeps it in the data of a Secret.
func helmSecret(t *testing.T, release string) string {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(release)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	inner := base64.StdEncoding.EncodeToString(packed.Bytes())
	return base64.StdEncoding.EncodeToString([]byte(inner))
}

// TestLivePage runs the commands of docs/live.md against a server, as a user with the role that the page has, and compares what they print.
func TestLivePage(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell to run the commands")
	}
	const page = "../../../docs/live.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	k := newClusterFixture(t)
	role, _, _ := strings.Cut(strings.SplitN(string(text), "```yaml\n", 2)[1], "```\n")
	k.Apply(strings.NewReplacer("name: reader", "name: follower").Replace(role))
	release := helmSecret(t, `{"name":"web","namespace":"shop","manifest":"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {a: b}\n"}`)
	k.Apply(fmt.Sprintf("{apiVersion: v1, kind: Secret, metadata: {name: sh.helm.release.v1.web.v1, namespace: shop}, type: helm.sh/release.v1, data: {release: %s}}", release))
	k.update("helm", "/api/v1/namespaces/shop/configmaps", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web"},"data":{"a":"b"}}`)
	t.Setenv("KUBECONFIG", k.as("follower"))
	runPage(t, docRunner{t: t, shell: shell, dir: t.TempDir(), printed: wantPrinted(t)}, page)
}
