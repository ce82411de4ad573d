package main

import (
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/deed-project/deed/oracle/pair"
)

// product is a table of requests: each path with each query, body and media type.
type product struct {
	name    string
	method  string
	paths   []string
	queries []string
	bodies  []string // "" is no body
	media   []string // nil is application/json
}

// requests yields the requests of a product.
func (p product) requests() iter.Seq[request] {
	return func(yield func(request) bool) {
		media := p.media
		if media == nil {
			media = []string{"application/json"}
		}
		for _, path := range p.paths {
			for _, query := range p.queries {
				for _, body := range p.bodies {
					for _, typ := range media {
						q := request{Request: pair.Request{Method: p.method, Path: path, ContentType: typ}, form: p.name}
						if query != "" {
							q.Path += "?" + query
						}
						if body != "" {
							q.Body = []byte(body)
						}
						if !yield(q) {
							return
						}
					}
				}
			}
		}
	}
}

// multiply sends each request of the products to both servers. All of them are dry runs or read only. So the objects that are made before stay
// as they are, and the order of requests does not matter.
func (c *campaign) multiply(kinds []collection) error {
	made, err := c.populate(kinds)
	if err != nil {
		return err
	}
	shown := map[string]bool{}
	for _, p := range products(made) {
		for q := range p.requests() {
			there, here, differences, err := c.ask(q)
			if err != nil {
				return fmt.Errorf("%s %s: %w", q.Method, q.Path, err)
			}
			c.sent++
			c.codes[there.Code]++
			c.note(p.name, q, there, here, differences, shown)
		}
	}
	return c.remove(made)
}

// products returns all products, for collections in the first namespace that have objects.
func products(made []collection) []product {
	return slices.Concat([]product{deletions(), patches(), lists()}, metadata(made), identities(made))
}

// created is the name of the object of each collection.
const created = "here"

// populate makes an object of each kind, and more of the kinds in ending. An object in a second version is there already, and kinds with rules
// for names refuse one. It returns the collections.
func (c *campaign) populate(kinds []collection) (made []collection, err error) {
	m := &maker{}
	for _, k := range kinds {
		if k.group.Namespaced[k.kind] {
			k.namespace = namespaces[0]
		}
		if slices.ContainsFunc(made, func(m collection) bool { return m.path() == k.path() }) {
			continue
		}
		made = append(made, k)
		create := pair.Request{Method: http.MethodPost, Path: k.path(), Body: m.object(k, created, 0)}
		if err := c.both(create, http.StatusCreated, http.StatusConflict, http.StatusUnprocessableEntity); err != nil {
			return nil, err
		}
		if !slices.Contains(ending, k.path()) {
			continue
		}
		for _, name := range []string{held, foreground, orphaned} {
			create.Body = pair.Put(m.object(k, name, 0), []any{"metadata", "finalizers"}, pair.Edit{Value: finalizers[name]})
			if err := c.both(create, http.StatusCreated); err != nil {
				return nil, err
			}
		}
		path := k.path() + "/" + orphaned + "?propagationPolicy=Orphan"
		if err := c.both(pair.Request{Method: http.MethodDelete, Path: path}, http.StatusOK); err != nil {
			return nil, err
		}
	}
	for _, s := range c.sides() {
		version, err := s.version()
		if err != nil {
			return nil, err
		}
		s.versions = []string{version}
	}
	return made, nil
}

// The objects in the collections of ending, by the finalizers that they wait for. The last one is being deleted.
const (
	held       = "held"
	foreground = "foreground"
	orphaned   = "orphaned"
)

var finalizers = map[string][]any{held: {"a.b/c"}, foreground: {"foregroundDeletion"}, orphaned: {"orphan", "a.b/c"}}

// inFirst returns paths in the first namespace.
func inFirst(paths ...string) []string {
	for i, path := range paths {
		paths[i] = fmt.Sprintf(path, namespaces[0])
	}
	return paths
}

// ending are the collections whose objects are deleted in dry runs.
var ending = inFirst(
	"/api/v1/namespaces/%s/configmaps", "/apis/batch/v1/namespaces/%s/jobs", "/api/v1/namespaces/%s/pods",
	"/apis/requests.example.org/v1/namespaces/%s/engines",
)

// noOptions are bodies of deletions that are refused.
var noOptions = []string{"[]", "1", `{"dryRun":["No"]}`, `{"dryRun":"All"}`, `{"kind":"Pod","apiVersion":"v1"}`}

// deletions are of objects with and without finalizers. A body takes the place of the query, so it says itself that this is a dry run.
func deletions() product {
	p := product{name: "deletions", method: http.MethodDelete, bodies: append([]string{""}, noOptions...), queries: []string{
		"dryRun=All", "dryRun=x", "dryRun=All&dryRun=All", "dryRun=All&gracePeriodSeconds=2", "dryRun=All&gracePeriodSeconds=-5",
		"dryRun=All&gracePeriodSeconds=x", "dryRun=All&propagationPolicy=Foreground", "dryRun=All&propagationPolicy=Background",
		"dryRun=All&propagationPolicy=x", "dryRun=All&orphanDependents=true&propagationPolicy=Background", "dryRun=All&orphanDependents=false",
		"dryRun=All&ignoreStoreReadErrorWithClusterBreakingPotential=true",
	}}
	for _, member := range []string{
		`"kind":"DeleteOptions","apiVersion":"v1"`, `"kind":"DeleteOptions","apiVersion":"apps/v1"`,
		`"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1"`, `"gracePeriodSeconds":0`, `"gracePeriodSeconds":3`, `"gracePeriodSeconds":-1`,
		`"gracePeriodSeconds":30`, `"gracePeriodSeconds":"x"`, `"gracePeriodSeconds":1,"gracePeriodSeconds":2`, `"propagationPolicy":"Orphan"`,
		`"propagationPolicy":"Foreground"`, `"propagationPolicy":"Background"`, `"propagationPolicy":"Nope"`, `"propagationPolicy":""`,
		`"orphanDependents":true`, `"orphanDependents":false`, `"orphanDependents":true,"propagationPolicy":"Orphan"`,
		`"preconditions":{"uid":"x"}`, `"preconditions":{"uid":""}`, `"preconditions":{"resourceVersion":"1"}`, `"preconditions":{}`,
		`"ignoreStoreReadErrorWithClusterBreakingPotential":true`, `"nope":1`,
	} {
		p.bodies = append(p.bodies, `{"dryRun":["All"],`+member+`}`)
	}
	for _, path := range ending {
		p.paths = append(p.paths, path)
		for _, name := range []string{created, held, foreground, orphaned, "absent"} {
			p.paths = append(p.paths, path+"/"+name)
		}
	}
	return p
}

// patches are right and wrong, at endpoints of objects that exist, and of absent ones.
func patches() product {
	p := product{name: "patches", method: http.MethodPatch, media: []string{applyPatch, mergePatch, strategicPatch, jsonPatch}, queries: []string{
		"dryRun=All", "dryRun=x", "force=true&dryRun=All", "fieldManager=m&dryRun=All", "fieldManager=m&force=true&dryRun=All",
		"fieldValidation=x&dryRun=All", "fieldValidation=Strict&fieldManager=m&dryRun=All", "dryRun=All&fieldManager=" + strings.Repeat("m", 129),
	}, bodies: []string{
		" ", "1", "[]", "{", "null", "{}", `"x"`, `{"a":`, "a: [1", "a: 1", `[{"op":"nope"}]`, `[{"op":"test","path":"/metadata/name","value":"zz"}]`,
		`[{"op":"add","path":"/metadata/zz","value":{"b":1,"a":2}},{"op":"add","path":"/aa","value":1}]`, `{"a":1,"a":2}`,
		`{"zz":1,"metadata":{"foo":1,"bar":2},"aa":1}`, `{"kind":"Nope","apiVersion":"v1"}`, `{"metadata":1}`, `{"metadata":{"name":"other"}}`,
		`{"metadata":{"uid":"x1"}}`, `{"metadata":{"resourceVersion":"1"}}`, `{"metadata":{"resourceVersion":"x"}}`, `{"metadata":{"managedFields":[{}]}}`,
		`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"uid":1},"spec":{"replicas":2}}`,
		`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"here","nope":1},"spec":{"replicas":-1}}`,
	}}
	for _, path := range inFirst(
		"/api/v1/namespaces/%s/configmaps/*", "/apis/apps/v1/namespaces/%s/deployments/*", "/apis/apps/v1/namespaces/%s/deployments/*/status",
		"/apis/apps/v1/namespaces/%s/deployments/*/scale", "/apis/requests.example.org/v1/namespaces/%s/engines/*",
		"/apis/requests.example.org/v1/namespaces/%s/engines/*/scale", "/api/v1/namespaces/%s/pods/*/status",
		"/api/v1/namespaces/%s/pods/*/ephemeralcontainers", "/api/v1/namespaces/%s/pods/*/resize", "/api/v1/namespaces/%s/pods/*/eviction",
		"/api/v1/namespaces/%s/pods/*/binding", "/api/v1/namespaces/%s/serviceaccounts/*/token",
	) {
		p.paths = append(p.paths, strings.Replace(path, "*", created, 1), strings.Replace(path, "*", "absent", 1))
	}
	return p
}

// lists are of all namespaces and of one, with selectors, limits, versions and continue tokens. A version that is to come is left out, for which
// a kube-apiserver waits. So is a limit with a selector of the namespace: see docs/reference-faults.md.
func lists() product {
	p := product{name: "lists", method: http.MethodGet, bodies: []string{""}, queries: []string{""}, paths: append(inFirst(
		"/api/v1/namespaces/%s/configmaps", "/api/v1/namespaces/%s/pods", "/apis/requests.example.org/v1/namespaces/%s/engines",
	), "/api/v1/pods", "/apis/requests.example.org/v1/engines", "/api/v1/nodes")}
	for _, parameter := range [][]string{
		{"fieldSelector=metadata.name%3Dhere", "fieldSelector=metadata.name%3Dabsent", "fieldSelector=metadata.name%21%3Dhere", "labelSelector=app%3Dx"},
		{"limit=1", "limit=0", "limit=-1", "limit=x"},
		{"resourceVersion=0", "resourceVersion=$NOW", "resourceVersion=x"},
		{"resourceVersionMatch=Exact", "resourceVersionMatch=NotOlderThan", "resourceVersionMatch=x"},
		{"continue=x", "continue=$OF000", "continue=" + token("-1", "here\x00")},
	} {
		for _, query := range p.queries { // with and without the parameter
			for _, value := range parameter {
				p.queries = append(p.queries, strings.TrimPrefix(query+"&"+value, "&"))
			}
		}
	}
	return p
}

// members are those of the metadata of an object, right and wrong ones.
var members = []string{
	`"labels":{"z":"z"}`, `"labels":{"a b":"c"}`, `"labels":{"a":1}`, `"annotations":{"z":"z"}`, `"annotations":null`, `"finalizers":["a.b/z"]`,
	`"finalizers":["z"]`, `"finalizers":null`, `"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"u"}]`,
	`"ownerReferences":[{"uid":"u"}]`, `"managedFields":[]`, `"managedFields":[{"manager":"x"}]`, `"uid":"x"`, `"uid":""`, `"resourceVersion":"1"`,
	`"resourceVersion":"x"`, `"resourceVersion":""`, `"generation":77`, `"creationTimestamp":"2001-01-01T00:00:00Z"`, `"creationTimestamp":null`,
	`"deletionTimestamp":"2001-01-01T00:00:00Z"`, `"deletionGracePeriodSeconds":9`, `"selfLink":"/x"`, `"namespace":"other"`, `"namespace":""`,
	`"generateName":"g-"`, `"nope":1`,
}

// endpoints returns the paths of an object of a collection: its own, and those of its subresources.
func endpoints(k collection, name string) []string {
	paths := []string{k.path() + "/" + name}
	for _, subresource := range k.group.Subresources[k.kind] {
		paths = append(paths, paths[0]+"/"+subresource)
	}
	return paths
}

// metadata changes one member of the metadata of an object of each kind, at each endpoint that takes the object.
func metadata(made []collection) (out []product) {
	for _, k := range made {
		merges := product{
			name: "metadata", method: http.MethodPatch, paths: endpoints(k, created), queries: []string{"dryRun=All"},
			media: []string{mergePatch, strategicPatch},
		}
		applies := product{
			name: "metadata", method: http.MethodPatch, paths: merges.paths, queries: []string{"dryRun=All&fieldManager=m&force=true"},
			media: []string{applyPatch},
		}
		typed := fmt.Sprintf(`"apiVersion":%q,"kind":%q`, k.base.Object["apiVersion"], k.kind)
		for _, member := range members {
			merges.bodies = append(merges.bodies, `{"metadata":{`+member+`}}`)
			applies.bodies = append(applies.bodies, fmt.Sprintf(`{%s,"metadata":{"name":%q,%s}}`, typed, created, member))
		}
		out = append(out, merges, applies)
	}
	return out
}

// identities creates and updates objects of each kind, with names and one more member in their metadata.
func identities(made []collection) (out []product) {
	var named []map[string]any // the metadata
	add := func(text string) {
		var with map[string]any
		if err := json.Unmarshal([]byte("{"+text+"}"), &with); err != nil {
			panic(err) // members is wrong
		}
		named = append(named, with)
	}
	for _, name := range []string{`""`, `"Bad_"`, "null", "1"} {
		add(`"name":` + name)
	}
	for _, name := range []string{created, "new"} {
		add(fmt.Sprintf(`"name":%q`, name))
		for _, member := range members {
			add(fmt.Sprintf(`"name":%q,%s`, name, member))
		}
	}
	m := &maker{}
	for _, k := range made {
		creates := product{name: "creations", method: http.MethodPost, paths: []string{k.path()}, queries: []string{"dryRun=All"}}
		for _, with := range named {
			object := any(m.object(k, created, 0))
			for member, value := range with {
				object = pair.Put(object, []any{"metadata", member}, pair.Edit{Value: value})
			}
			creates.bodies = append(creates.bodies, pair.Text(object))
		}
		updates := creates
		updates.name, updates.method = "updates", http.MethodPut
		updates.paths = slices.Concat(endpoints(k, created), endpoints(k, "absent"))
		out = append(out, creates, updates)
	}
	return out
}
