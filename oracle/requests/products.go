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

// products sends each request of the products to both servers. All of them are dry runs or read only. So the objects that are made before stay
// as they are, and the order of requests does not matter.
func (c *campaign) products(kinds []collection) error {
	made, err := c.populate(kinds)
	if err != nil {
		return err
	}
	shown := map[string]bool{}
	for _, p := range allProducts(made) {
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

// allProducts returns the products for collections that have objects.
func allProducts(made []collection) []product {
	return slices.Concat(deletions(), patches(), lists(), metadata(made), identities(made))
}

// created is the name of the object of each collection in the first namespace.
const created = "here"

// populate makes an object of each kind, and objects that are in the way of their deletion. It returns the collections that have objects.
func (c *campaign) populate(kinds []collection) (made []collection, err error) {
	m := &maker{}
	for _, k := range kinds {
		if k.group.Namespaced[k.kind] {
			k.namespace = namespaces[0]
		}
		object := m.object(k, created, 0)
		if err := c.both(pair.Request{Method: http.MethodPost, Path: k.path(), Body: object}, http.StatusCreated, http.StatusConflict, http.StatusUnprocessableEntity); err != nil {
			return nil, err
		}
		made = append(made, k)
		if !slices.Contains(ending, k.path()) {
			continue
		}
		for name, finalizers := range map[string][]any{"held": {"a.b/c"}, "foreground": {"foregroundDeletion"}, "orphan": {"orphan", "a.b/c"}} {
			object := pair.Put(m.object(k, name, 0), []any{"metadata", "finalizers"}, pair.Edit{Value: finalizers})
			if err := c.both(pair.Request{Method: http.MethodPost, Path: k.path(), Body: object}, http.StatusCreated, http.StatusConflict); err != nil {
				return nil, err
			}
		}
		// This one is being deleted.
		if err := c.both(pair.Request{Method: http.MethodDelete, Path: k.path() + "/orphan?propagationPolicy=Orphan"}, http.StatusOK); err != nil {
			return nil, err
		}
	}
	for _, s := range c.sides() {
		a, err := s.Send(pair.Request{Method: http.MethodGet, Path: "/api/v1/namespaces/" + namespaces[0] + "/configmaps"})
		if err != nil {
			return nil, err
		}
		version, _ := pair.Get(a.Object, "metadata", "resourceVersion").(string)
		s.versions = []string{version}
	}
	return made, nil
}

// inFirst returns paths in the first namespace.
func inFirst(paths ...string) []string {
	for i, path := range paths {
		paths[i] = fmt.Sprintf(path, namespaces[0])
	}
	return paths
}

// ending are the collections whose objects are deleted in dry runs.
var ending = inFirst("/api/v1/namespaces/%s/configmaps", "/apis/batch/v1/namespaces/%s/jobs", "/api/v1/namespaces/%s/pods", "/apis/requests.example.org/v1/namespaces/%s/engines")

// deletions are of objects with and without finalizers. A body takes the place of the query, so it says itself that this is a dry run.
func deletions() []product {
	p := product{name: "deletions", method: http.MethodDelete, queries: []string{
		"dryRun=All", "dryRun=All&gracePeriodSeconds=2", "dryRun=All&gracePeriodSeconds=-5", "dryRun=All&gracePeriodSeconds=x",
		"dryRun=All&propagationPolicy=Foreground", "dryRun=All&propagationPolicy=Background", "dryRun=All&propagationPolicy=x",
		"dryRun=All&orphanDependents=true&propagationPolicy=Background", "dryRun=All&orphanDependents=false", "dryRun=x", "dryRun=All&dryRun=All",
		"dryRun=All&ignoreStoreReadErrorWithClusterBreakingPotential=true",
	}, bodies: []string{"", "[]", "1", `{"dryRun":["No"]}`, `{"dryRun":"All"}`, `{"kind":"Pod","apiVersion":"v1"}`}}
	for _, member := range []string{
		`"kind":"DeleteOptions","apiVersion":"v1"`, `"kind":"DeleteOptions","apiVersion":"apps/v1"`, `"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1"`,
		`"gracePeriodSeconds":0`, `"gracePeriodSeconds":3`, `"gracePeriodSeconds":-1`, `"gracePeriodSeconds":30`, `"gracePeriodSeconds":"x"`,
		`"gracePeriodSeconds":1,"gracePeriodSeconds":2`, `"propagationPolicy":"Orphan"`, `"propagationPolicy":"Foreground"`,
		`"propagationPolicy":"Background"`, `"propagationPolicy":"Nope"`, `"propagationPolicy":""`, `"orphanDependents":true`, `"orphanDependents":false`,
		`"orphanDependents":true,"propagationPolicy":"Orphan"`, `"preconditions":{"uid":"x"}`, `"preconditions":{"uid":""}`,
		`"preconditions":{"resourceVersion":"1"}`, `"preconditions":{}`, `"ignoreStoreReadErrorWithClusterBreakingPotential":true`, `"nope":1`,
	} {
		p.bodies = append(p.bodies, `{"dryRun":["All"],`+member+`}`)
	}
	for _, path := range ending {
		for _, name := range []string{"/" + created, "/held", "/foreground", "/orphan", "/absent", ""} {
			p.paths = append(p.paths, path+name)
		}
	}
	return []product{p}
}

// patches are right and wrong, at endpoints of objects that exist, and of absent ones.
func patches() []product {
	p := product{name: "patches", method: http.MethodPatch, media: []string{applyPatch, mergePatch, strategicPatch, jsonPatch}, queries: []string{
		"dryRun=All", "fieldManager=m&dryRun=All", "fieldManager=m&force=true&dryRun=All", "fieldValidation=x&dryRun=All", "dryRun=x",
		"fieldValidation=Strict&fieldManager=m&dryRun=All", "force=true&dryRun=All", "dryRun=All&fieldManager=" + strings.Repeat("m", 129),
	}, bodies: []string{
		" ", "1", "[]", "{", "null", "{}", `"x"`, `{"a":`, "a: [1", "a: 1", `[{"op":"nope"}]`, `[{"op":"test","path":"/metadata/name","value":"zz"}]`,
		`[{"op":"add","path":"/metadata/zz","value":{"b":1,"a":2}},{"op":"add","path":"/aa","value":1}]`, `{"kind":"Nope","apiVersion":"v1"}`,
		`{"metadata":{"name":"other"}}`, `{"metadata":{"uid":"x1"}}`,
		`{"metadata":{"resourceVersion":"1"}}`, `{"metadata":{"resourceVersion":"x"}}`, `{"metadata":1}`, `{"metadata":{"managedFields":[{}]}}`,
		`{"a":1,"a":2}`, `{"zz":1,"metadata":{"foo":1,"bar":2},"aa":1}`, `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"uid":1},"spec":{"replicas":2}}`,
		`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"here","nope":1},"spec":{"replicas":-1}}`,
	}}
	for _, path := range inFirst(
		"/api/v1/namespaces/%s/configmaps/*", "/apis/apps/v1/namespaces/%s/deployments/*", "/apis/apps/v1/namespaces/%s/deployments/*/status",
		"/apis/apps/v1/namespaces/%s/deployments/*/scale", "/apis/requests.example.org/v1/namespaces/%s/engines/*",
		"/apis/requests.example.org/v1/namespaces/%s/engines/*/scale", "/api/v1/namespaces/%s/pods/*/status", "/api/v1/namespaces/%s/pods/*/ephemeralcontainers",
		"/api/v1/namespaces/%s/pods/*/resize", "/api/v1/namespaces/%s/pods/*/eviction", "/api/v1/namespaces/%s/pods/*/binding",
		"/api/v1/namespaces/%s/serviceaccounts/*/token",
	) {
		p.paths = append(p.paths, strings.Replace(path, "*", created, 1), strings.Replace(path, "*", "absent", 1))
	}
	return []product{p}
}

// lists are of all namespaces and of one, with selectors, limits, versions and continue tokens. A version that is to come is left out, for which
// a kube-apiserver waits. So is a limit with a selector of the namespace: see docs/reference-faults.md.
func lists() []product {
	p := product{
		name: "lists", method: http.MethodGet, bodies: []string{""},
		paths: append(inFirst("/api/v1/namespaces/%s/configmaps", "/api/v1/namespaces/%s/pods", "/apis/requests.example.org/v1/namespaces/%s/engines"),
			"/api/v1/pods", "/apis/requests.example.org/v1/engines", "/api/v1/nodes"),
	}
	for _, selector := range []string{"", "fieldSelector=metadata.name%3Dhere", "fieldSelector=metadata.name%3Dabsent", "fieldSelector=metadata.name%21%3Dhere", "labelSelector=app%3Dx"} {
		for _, limit := range []string{"", "limit=1", "limit=0", "limit=-1", "limit=x"} {
			for _, version := range []string{"", "resourceVersion=0", "resourceVersion=$NOW", "resourceVersion=x"} {
				for _, match := range []string{"", "resourceVersionMatch=Exact", "resourceVersionMatch=NotOlderThan", "resourceVersionMatch=x"} {
					for _, token := range []string{"", "continue=x", "continue=$OF000", "continue=" + token("-1", "here\x00")} {
						all := slices.DeleteFunc([]string{selector, limit, version, match, token}, func(s string) bool { return s == "" })
						p.queries = append(p.queries, strings.Join(all, "&"))
					}
				}
			}
		}
	}
	return []product{p}
}

// members are those of the metadata of an object, right and wrong ones.
var members = []string{
	`"labels":{"z":"z"}`, `"labels":{"a b":"c"}`, `"labels":{"a":1}`, `"annotations":{"z":"z"}`, `"annotations":null`, `"finalizers":["a.b/z"]`, `"finalizers":["z"]`,
	`"finalizers":null`, `"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"u"}]`, `"ownerReferences":[{"uid":"u"}]`, `"managedFields":[]`,
	`"managedFields":[{"manager":"x"}]`, `"uid":"x"`, `"uid":""`, `"resourceVersion":"1"`, `"resourceVersion":"x"`, `"resourceVersion":""`, `"generation":77`,
	`"creationTimestamp":"2001-01-01T00:00:00Z"`, `"creationTimestamp":null`, `"deletionTimestamp":"2001-01-01T00:00:00Z"`, `"deletionGracePeriodSeconds":9`,
	`"selfLink":"/x"`, `"namespace":"other"`, `"namespace":""`, `"generateName":"g-"`, `"nope":1`,
}

// metadata changes one member of the metadata of an object of each kind, at each endpoint that takes the object.
func metadata(made []collection) (out []product) {
	for _, k := range made {
		typed := fmt.Sprintf(`"apiVersion":%q,"kind":%q`, k.base.Object["apiVersion"], k.kind)
		merges := product{name: "metadata", method: http.MethodPatch, queries: []string{"dryRun=All"}, media: []string{mergePatch, strategicPatch}}
		applies := product{name: "metadata", method: http.MethodPatch, queries: []string{"dryRun=All&fieldManager=m&force=true"}, media: []string{applyPatch}}
		for _, endpoint := range []string{"", "/status", "/approval", "/ephemeralcontainers", "/resize"} {
			merges.paths = append(merges.paths, k.path()+"/"+created+endpoint)
		}
		applies.paths = merges.paths
		for _, member := range members {
			merges.bodies = append(merges.bodies, `{"metadata":{`+member+`}}`)
			applies.bodies = append(applies.bodies, `{`+typed+`,"metadata":{"name":"here",`+member+`}}`)
		}
		out = append(out, merges, applies)
	}
	return out
}

// identities creates and updates objects of each kind that have one more member in their metadata, under several names.
func identities(made []collection) (out []product) {
	m := &maker{}
	for _, k := range made {
		creates := product{name: "creations", method: http.MethodPost, paths: []string{k.path()}, queries: []string{"dryRun=All"}}
		updates := product{name: "updates", method: http.MethodPut, queries: []string{"dryRun=All"}}
		for _, name := range []string{created, "absent"} {
			for _, endpoint := range []string{"", "/status"} {
				updates.paths = append(updates.paths, k.path()+"/"+name+endpoint)
			}
		}
		for _, name := range []string{`"here"`, `"new"`, `""`, `"Bad_"`, "null", "1"} {
			bodies := []string{`"name":` + name}
			if name == `"here"` || name == `"new"` {
				for _, member := range members {
					bodies = append(bodies, `"name":`+name+","+member)
				}
			}
			for _, body := range bodies {
				var with map[string]any
				if err := json.Unmarshal([]byte("{"+body+"}"), &with); err != nil {
					panic(err) // the tables above are at fault
				}
				object := any(m.object(k, created, 0))
				for member, value := range with {
					object = pair.Put(object, []any{"metadata", member}, pair.Edit{Value: value})
				}
				text := pair.Text(object)
				creates.bodies, updates.bodies = append(creates.bodies, text), append(updates.bodies, text)
			}
		}
		out = append(out, creates, updates)
	}
	return out
}
