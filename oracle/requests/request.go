package main

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/deed-project/deed/oracle/pair"
)

// request is what both servers are asked. $AT and the number of a step, and $NOW, stand for the resource version after that step and after the
// last one. $TOKEN and $OF with a step stand for continue tokens: the last one, and one of the resource version after the step.
type request struct {
	pair.Request
	form string // what the path leads to
}

// writes reports whether the request may change something.
func (q request) writes() bool {
	return !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions}, q.Method)
}

// maker makes the requests of a round.
type maker struct {
	*rand.Rand
	kinds []collection
	there []collection // those with objects, in their namespaces
	steps int          // of the history of the round
}

// step returns the number of a random step.
func (m *maker) step() string { return step(m.IntN(max(1, m.steps))) }

// step returns the number of a step as placeholders have it.
func step(i int) string { return fmt.Sprintf("%03d", i) }

func (m *maker) chance(p float64) bool { return m.Float64() < p }

// one returns a random item.
func one[T any](m *maker, of ...T) T { return of[m.IntN(len(of))] }

// object returns an object of a collection. Objects with different numbers have different labels.
func (m *maker) object(k collection, name string, number int) map[string]any {
	object := k.base.Object
	if k.base.Create != nil && number > 0 {
		for member, value := range k.base.Create {
			object = pair.Put(object, []any{member}, pair.Edit{Value: value}).(map[string]any)
		}
	}
	set := func(v any, path ...any) {
		object = pair.Put(object, path, pair.Edit{Path: path, Value: v, Remove: v == nil}).(map[string]any)
	}
	set(name, "metadata", "name")
	set(nil, "metadata", "finalizers")
	set(nil, "metadata", "ownerReferences")
	set(nil, "metadata", "managedFields")
	set(map[string]any{"app": []string{"x", "y"}[number%2], "n": fmt.Sprint(number)}, "metadata", "labels")
	if k.namespace != "" {
		set(k.namespace, "metadata", "namespace")
	}
	return object
}

// request returns a random request.
func (m *maker) request() request {
	if m.chance(0.05) {
		return m.document()
	}
	k := m.there[m.IntN(len(m.there))]
	if m.chance(0.05) { // a kind without objects
		if k = m.kinds[m.IntN(len(m.kinds))]; k.group.Namespaced[k.kind] {
			k.namespace = namespaces[0]
		}
	}
	q := request{}
	q.Path, q.form = m.path(k)
	q.Method = m.method(q.form)
	q.Accept = m.accept()
	if q.writes() {
		q.Body, q.ContentType = m.body(k, q)
	}
	if query := m.query(q); query != "" {
		q.Path += "?" + query
	}
	return q
}

// The forms of paths.
const (
	ofCollection  = "collection"
	ofObject      = "object"
	ofSubresource = "subresource"
	ofWatch       = "watch" // the old form
	ofNothing     = "nothing"
	ofDocument    = "document"
)

// subresources are those that need no connection to a node.
var subresources = []string{
	"status", "scale", "ephemeralcontainers", "resize", "eviction", "binding", "token", "finalize", "approval", "log", "nope", "status/x", "Status",
}

// ofServer are kinds of which a server has objects of its own. No request lists those of all namespaces.
var ofServer = []string{"ConfigMap", "Lease", "Service", "Endpoints", "EndpointSlice"}

// path returns the path of a request, and its form.
func (m *maker) path(k collection) (path, form string) {
	all := strings.Replace(k.path(), "/namespaces/"+k.namespace+"/", "/", 1)
	name := one(m, names[:]...)
	if m.chance(0.1) {
		name = one(m, "absent", "o-1%2f", "O-1", "o-1%20", "a%00b", "-", "o_1", "%C3%A4", strings.Repeat("n", 260))
	}
	switch n := m.IntN(100); {
	case n < 30:
		return k.path(), ofCollection
	case n < 37 && !slices.Contains(ofServer, k.kind):
		return all, ofCollection
	case n < 74:
		return k.path() + "/" + name, ofObject
	case n < 84:
		return k.path() + "/" + name + "/" + one(m, subresources...), ofSubresource
	case n < 88:
		head, tail := k.path(), ""
		if m.chance(0.5) {
			tail = "/" + name
		}
		for _, prefix := range [...]string{"/api/v1", "/apis/" + k.group.Version} {
			if strings.HasPrefix(head, prefix+"/") {
				head = prefix + "/watch" + strings.TrimPrefix(head, prefix)
			}
		}
		return head + tail, ofWatch
	case n < 90:
		return k.path() + "/", ofNothing
	case n < 92:
		return all + "/" + name, ofNothing // an object of a namespaced kind without its namespace
	case n < 94:
		return strings.Replace(k.path(), "/namespaces/"+namespaces[0], "/namespaces/"+one(m, "absent", "Requests", "-"), 1), ofCollection
	case n < 96:
		return strings.Replace(k.path(), "/"+k.group.Version, "/"+one(m, "v9", "apps/v1beta1", "none.example.org/v1"), 1), ofNothing
	case n < 98:
		return strings.Replace(k.path(), k.group.Resources[k.kind], one(m, "nopes", "Pods", k.kind), 1), ofNothing
	default:
		return one(m, "//", "/api/", "/apis/") + strings.TrimPrefix(k.path(), "/"), ofNothing
	}
}

func (m *maker) method(form string) string {
	if m.chance(0.04) {
		return one(m, http.MethodHead, http.MethodOptions, "TRACE", "LINK", "get")
	}
	n := m.IntN(100)
	switch form {
	case ofWatch:
		if n < 90 {
			return http.MethodGet
		}
	case ofCollection:
		switch {
		case n < 70:
			return http.MethodGet
		case n < 90:
			return http.MethodPost
		case n < 94:
			return http.MethodDelete
		}
	default:
		switch {
		case n < 35:
			return http.MethodGet
		case n < 60:
			return http.MethodPatch
		case n < 78:
			return http.MethodPut
		case n < 92:
			return http.MethodDelete
		}
	}
	return one(m, http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete)
}

const asTable = "application/json;as=Table;v=v1;g=meta.k8s.io"

// accept returns the header that says which forms the client reads.
func (m *maker) accept() string {
	if m.chance(0.6) {
		return one(m, "", "*/*", "application/json", "application/json")
	}
	return one(m, asTable, asTable,
		"application/json;as=Table;v=v1beta1;g=meta.k8s.io", "application/json;as=Table;v=v2;g=meta.k8s.io", "application/json;as=Table",
		"application/json;as=Table;v=v1;g=meta.k8s.io,application/json", "application/yaml;as=Table;v=v1;g=meta.k8s.io",
		"application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
		"application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
		"application/json;as=PartialObjectMetadata;v=v1beta1;g=meta.k8s.io", "application/json;as=Nope;v=v1;g=meta.k8s.io",
		"application/yaml", "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf,application/json", "application/cbor",
		"text/html", "text/*", "application/*", "application/json;q=0.1,application/yaml;q=0.9", "application/json;stream=watch", "garbage",
		"application/json;profile=nope", "application/json;pretty=1", "application/json; charset=utf-8", "text/plain, application/json",
		";", "application/json-seq",
	)
}

// option is a parameter with values.
type option struct {
	name   string
	values []string
}

var (
	onAny = []option{
		{"pretty", []string{"true", "false", "1", "", "yes"}},
		{"nope", []string{"1"}},
		{"timeout", []string{"10s", "abc", "-1s", "0s", "2h", "5"}},
	}
	onLists = []option{
		{"limit", []string{"1", "1", "2", "3", "500", "0", "-1", "abc", "", "1.5", "99999999999999999999"}},
		{"continue", []string{"$TOKEN", "$TOKEN", "$TOKEN", "abc", "", "$OF", "$OF", token("-1", "o-1\x00"), token("0", "o-1\x00"), token("x", "o")}},
		{"resourceVersion", []string{"0", "0", "$NOW", "$NOW", "$AT", "$AT", "$AT", "abc", "-1", "", "1.0", "999999999"}},
		{"resourceVersionMatch", []string{"Exact", "NotOlderThan", "NotOlderThan", "Nope", "", "exact"}},
		{"labelSelector", []string{
			"app=x", "app==x", "app!=x", "app in (x,y)", "app notin (x)", "app", "!app", "n>1", "n<2", "app=x,n=0", "", "app=", "app in x",
			"a b", "app=x,", "=x", "n>a",
			"app in ()", "app=-", "/a=b", "a/b/c=d", "!", "app=x=y",
		}},
		{"fieldSelector", []string{
			"metadata.name=o-1", "metadata.name!=o-1", "metadata.namespace=requests-a", "metadata.name=o-1,metadata.namespace=requests-b",
			"metadata.name=",
			"spec.nodeName=", "status.phase=Pending", "type=Opaque", "nope=1", "metadata.labels=x", "metadata.name", "metadata.name==o-2",
			"metadata.name in (a)",
			"involvedObject.name=x", "", "metadata.name=o-1,metadata.name=o-2", `metadata.name=o\,1`, `metadata.name=o\`, "metadata.uid=1",
			"spec.unschedulable=false", "spec.unschedulable=true", "spec.nodeName=node-1", "spec.nodeName!=node-1,status.phase!=Failed",
			"status.phase=Running", "spec.color=red", "spec.color!=red,spec.replicas=2", "spec.replicas=3",
		}},
		{"watch", []string{"true", "1", "false", "0", "", "nope"}},
		{"allowWatchBookmarks", []string{"true", "false", "nope"}},
		{"sendInitialEvents", []string{"true", "true", "false", "", "nope"}},
		{"timeoutSeconds", []string{"1", "abc", "0.5"}},
		{"shardSelector", []string{"", "x"}},
	}
	onWrites = []option{
		{"dryRun", []string{"All", "All", "All", "all", "", "Some", "All&dryRun=All", "All&dryRun=None"}},
		{"fieldManager", []string{"m", "m", "", strings.Repeat("m", 129), "a%00b", "a%0Ab", "%C3%A4", "m&fieldManager=n"}},
		{"fieldValidation", []string{"Strict", "Warn", "Ignore", "Nope", "", "strict"}},
		{"force", []string{"true", "false", "", "nope", "1"}},
	}
	onDeletions = []option{
		{"gracePeriodSeconds", []string{"0", "1", "-1", "abc", "", "1.5"}},
		{"propagationPolicy", []string{"Background", "Orphan", "Foreground", "Nope", "", "background"}},
		{"orphanDependents", []string{"true", "false", "nope"}},
		{"dryRun", []string{"All", "All", "Some"}},
		{"ignoreStoreReadErrorWithClusterBreakingPotential", []string{"true", "false", "nope"}},
		{"resourceVersion", []string{"$NOW", "$AT"}},
	}
)

// token returns a continue token as kube-apiserver makes it.
func token(version, start string) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"v":"meta.k8s.io/v1","rv":%s,"start":%q}`, version, start))
}

// query returns the parameters of a request.
func (m *maker) query(q request) string {
	from := onAny
	count := one(m, 0, 0, 1)
	add := func(options []option, n int) {
		from = slices.Concat(options, from)
		count = n
	}
	switch {
	case q.Method == http.MethodDelete && q.form == ofCollection:
		add(slices.Concat(onDeletions, onLists[:6]), one(m, 0, 1, 2, 3))
	case q.Method == http.MethodDelete:
		add(onDeletions, one(m, 0, 1, 2, 3))
	case q.writes():
		add(onWrites, one(m, 0, 1, 1, 2, 3))
	case q.form == ofCollection || q.form == ofWatch:
		add(onLists, one(m, 0, 1, 1, 2, 3, 4))
	case m.chance(0.3):
		add(onLists[2:4], one(m, 1, 2))
	}
	var out []string
	watches := q.form == ofWatch
	for range count {
		o := one(m, from...)
		if slices.ContainsFunc(out, func(p string) bool { return strings.HasPrefix(p, o.name+"=") }) {
			continue
		}
		value := one(m, o.values...)
		if o.name == "resourceVersion" && value == "999999999" && m.chance(0.8) { // for which a kube-apiserver waits three seconds
			value = "$NOW"
		}
		if value == "$AT" || value == "$OF" {
			value += m.step()
		}
		if o.name == "watch" {
			watches = true
		}
		if !strings.Contains(value, "&") && !strings.Contains(value, "%") && !strings.HasPrefix(value, "$") {
			value = url.QueryEscape(value)
		}
		out = append(out, o.name+"="+value)
	}
	if watches {
		out = append(out, "timeoutSeconds=1")
	}
	if m.chance(0.01) {
		out = append(out, one(m, "%zz", "a=%", ";", "&&", "="))
	}
	return strings.Join(out, "&")
}

// documents are paths that lead to no objects.
var documents = []string{
	"/", "/api", "/api/", "/api/v1", "/api/v1/", "/apis", "/apis/", "/apis/apps", "/apis/apps/", "/apis/apps/v1", "/apis/apps/v1/",
	"/apis/nope", "/apis/nope/v1", "/apis/apps/v9",
	"/healthz", "/healthz/", "/healthz/ping", "/healthz/nope", "/livez", "/livez/ping", "/readyz", "/readyz/ping", "/readyz/etcd",
	"/openapi", "/openapi/v2", "/openapi/v3",
	"/openapi/v3/", "/openapi/v3/api/v1", "/openapi/v3/apis/apps/v1", "/openapi/v3/apis/nope/v1", "/.well-known/openid-configuration",
	"/nope", "/apis/apps/v1/nope/x/y/z", "/api/v2", "/logs", "/ui", "/favicon.ico", "/index.html", "/swagger.json", "/swaggerapi",
	"/api/v1/namespaces/requests-a",
	"/api/v1/namespaces/requests-a/", "/api/v1/namespaces/requests-a/nope", "/api/v1/watch", "/apis/apps/v1/watch/deployments",
}

// document returns a request for something that is no object.
func (m *maker) document() request {
	q := request{form: ofDocument}
	q.Path, q.Accept = one(m, documents...), m.accept()
	q.Method = one(m, http.MethodGet, http.MethodGet, http.MethodGet, http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete, http.MethodPut, http.MethodOptions)
	if strings.HasPrefix(q.Path, "/api/v1/namespaces/") {
		q.Method = http.MethodGet // the namespace must stay
	}
	query := one(m, "", "", "verbose", "verbose=1", "exclude=ping", "exclude=nope&verbose", "pretty=true", "hash=x", "timeout=5", "timeout=3s")
	if strings.Contains(q.Path, "/watch/") {
		query = "timeoutSeconds=1"
	}
	if query != "" {
		q.Path += "?" + query
	}
	return q
}
