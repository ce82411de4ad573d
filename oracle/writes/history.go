package main

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"

	"github.com/deed-project/deed/oracle/pair"
)

// history is writes of one object.
type history struct {
	kind   *kind
	name   string // of the object
	number int
	seed   uint64
}

// newHistory returns a history of a kind. Its writes depend on the seed, the kind and the number.
func newHistory(k *kind, seed uint64, number int) *history {
	h := fnv.New64a()
	fmt.Fprint(h, k.versions[0].Version, k.name, number)
	return &history{k, fmt.Sprintf("h%d-%d", seed, number), number, seed ^ h.Sum64()}
}

// step sends the n-th write to a server. The write depends on what the server has stored, but for what differs from run to run. So servers
// that have answered alike get the same writes.
func (h *history) step(s *pair.Server, n int) (outcome, error) {
	r := rand.New(rand.NewPCG(h.seed, uint64(n)))
	g := h.kind.versions[0]
	if r.IntN(3) == 0 {
		g = h.kind.versions[r.IntN(len(h.kind.versions))]
	}
	o := outcome{}
	var err error
	if o.before, err = h.read(s, g); err != nil {
		return o, err
	}
	w := writer{Rand: r, history: h, group: g, live: o.before, first: n == 0}
	o.op, o.request = w.write()
	o.request.Body = harmless(o.request.Body)
	w.encode(&o.request)
	if o.answer, err = h.kind.kubectl.send(s, o.request); err != nil {
		return o, err
	}
	if o.after, err = h.read(s, g); err != nil {
		return o, err
	}
	o.shown, err = h.show(s, &w)
	return o, err
}

// asTable asks for the columns that kubectl prints, and asMetadata for the metadata of the object alone.
const (
	asTable    = "application/json;as=Table;v=v1;g=meta.k8s.io"
	asMetadata = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
)

// show reads the object in another form, if it is time for that: as a Table, or in a list that a selector may exclude it from.
func (h *history) show(s *pair.Server, w *writer) (any, error) {
	q := pair.Request{Method: http.MethodGet, Path: h.path(w.group)}
	switch w.IntN(8) {
	case 0:
		q.Accept = asTable
	case 1:
		q.Path = w.group.Collection(h.kind.name, h.kind.namespace) + "?fieldSelector=metadata.name%3D" + h.name
		q.Path += one(w, "", "&labelSelector=app", "&labelSelector=tier+in+(x,y),app!=z", ",spec.replicas"+one(w, "=", "!=")+one(w, "", "0", "2"))
		q.Accept = one(w, "", asTable)
	default:
		return nil, nil
	}
	a, err := s.Send(q)
	if a.Object == nil { // the selector may name a field that none can
		return a.String(), err
	}
	return a.Object, err
}

func (h *history) path(g *pair.Group) string {
	return g.Collection(h.kind.name, h.kind.namespace) + "/" + h.name
}

// read returns the object as a server has it, or nil. It also waits until the watch cache of the server has the object in that state: a
// kube-apiserver that finds an older one there calls webhooks about both.
func (h *history) read(s *pair.Server, g *pair.Group) (map[string]any, error) {
	q := pair.Request{Method: http.MethodGet, Path: h.path(g)}
	a, err := s.Send(q)
	if version, ok := versionOf(a.Object).(string); ok && err == nil {
		q.Path += "?resourceVersion=" + version
		_, err = s.Send(q)
	}
	return a.Object, err
}

// remove deletes the object at once. Without the policy, some kinds get a finalizer.
func (h *history) remove(s *pair.Server) error {
	path := h.path(h.kind.versions[0])
	free := map[string]any{"metadata": map[string]any{"finalizers": nil}}
	if _, err := s.Send(pair.Request{Method: http.MethodPatch, Path: path, ContentType: mergePatch, Body: free}); err != nil {
		return err
	}
	_, err := s.Send(pair.Request{Method: http.MethodDelete, Path: path + "?gracePeriodSeconds=0&propagationPolicy=Background"})
	return err
}

// harmless returns a body that has no effect on other objects: rules of webhooks and policies match nothing, and classes are no defaults.
// Rules of roles have the same groups then, too, which does not matter.
func harmless(body any) any {
	switch v := body.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			groups, isList := member.([]any)
			switch {
			case name == "apiGroups" && isList && len(groups) > 0:
				out[name] = []any{"none.example.org"}
			case name == "globalDefault" && member == true:
				out[name] = false
			case name == "storageclass.kubernetes.io/is-default-class", name == "ingressclass.kubernetes.io/is-default-class":
				out[name] = "false"
			default:
				out[name] = harmless(member)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = harmless(item)
		}
		return out
	}
	return body
}

const (
	applyPatch     = "application/apply-patch+yaml"
	strategicPatch = "application/strategic-merge-patch+json"
	mergePatch     = "application/merge-patch+json"
	jsonPatch      = "application/json-patch+json"
)

// writer makes one write.
type writer struct {
	*rand.Rand
	*history
	group *pair.Group
	live  map[string]any // nil if there is no object
	first bool
}

func (w *writer) chance(p float64) bool { return w.Float64() < p }

// one returns a random item.
func one[T any](w *writer, of ...T) T { return of[w.IntN(len(of))] }

// write returns a write, and what kind of write it is.
func (w *writer) write() (string, pair.Request) {
	manager := one(w, "alice", "bob", "carol")
	n := w.IntN(100)
	if w.first {
		n = one(w, 0, 0, 60)
	}
	if w.kind.kubectl != nil && w.chance(0.5) {
		return w.command()
	}
	has := func(subresource string) bool { return slices.Contains(w.kind.subresources, subresource) }
	switch {
	case n < 48:
	case n < 62:
		return w.put(manager)
	case n < 69:
		return w.merge(manager, strategicPatch)
	case n < 74:
		return w.merge(manager, mergePatch)
	case n < 79:
		return w.edit(manager)
	case n < 83 && has("scale"):
		return w.scale(manager)
	case n < 90 && has("status"):
		return w.status(manager)
	case n < 92 && len(w.kind.subresources) > 0:
		return w.subresource(manager)
	case n < 95:
		return w.odd(manager)
	default:
		return w.delete()
	}
	return w.apply(manager)
}

// request returns a request to the object, or to one of its subresources.
func (w *writer) request(method, subresource, query, contentType string, body any) pair.Request {
	path := w.path(w.group)
	if subresource != "" {
		path += "/" + subresource
	}
	if query != "" {
		path += "?" + query
	}
	return pair.Request{Method: method, Path: path, ContentType: contentType, Body: body}
}

// query returns the options of a write.
func (w *writer) query(manager string, applies bool) string {
	q := "fieldManager=" + manager
	if w.chance(0.07) {
		q += "&dryRun=All"
	}
	if w.chance(0.2) {
		q += "&fieldValidation=" + one(w, "Ignore", "Warn", "Strict")
	}
	if applies && w.chance(0.35) {
		q += "&force=true"
	}
	return q
}

// encode makes protocol buffers or CBOR of some of the bodies that may be sent so, and asks for some of the answers in that form. An object as
// protocol buffers has what its Go type can hold.
func (w *writer) encode(q *pair.Request) {
	form, encode, applied := pair.Protobuf, pair.EncodeProtobuf, ""
	if w.kind.cbor {
		form, encode, applied = pair.CBOR, pair.EncodeCBOR, pair.ApplyCBOR
	}
	if q.Method == byKubectl || !w.kind.cbor && !pair.InProtobuf(w.group.Version, w.kind.name) || !w.chance(0.2) {
		return
	}
	if w.chance(0.7) {
		q.Accept = form
	}
	if q.ContentType == applyPatch && applied != "" {
		form = applied
	} else if q.ContentType != "" || q.Body == nil {
		return
	}
	if body, err := encode(q.Body); err == nil {
		q.Body, q.ContentType = body, form
	}
}

func (w *writer) apply(manager string) (string, pair.Request) {
	object := w.configuration()
	if w.chance(0.12) {
		object = w.spoiled(object)
	}
	return "apply", w.request(http.MethodPatch, "", w.query(manager, true), applyPatch, object)
}

// put creates the object or updates it.
func (w *writer) put(manager string) (string, pair.Request) {
	query, agent := w.query(manager, false), ""
	if w.chance(0.1) {
		query, agent = "", one(w, "kube-controller-manager/v1.37.1 (linux/amd64)", "curl/8.1")
	}
	if w.live == nil {
		if w.chance(0.7) {
			q := w.request(http.MethodPost, "", "", "", w.configuration())
			q.Path = w.group.Collection(w.kind.name, w.kind.namespace) + "?" + query
			q.UserAgent = agent
			return "create", q
		}
		q := w.request(http.MethodPut, "", query, "", w.configuration())
		q.UserAgent = agent
		return "update", q
	}
	object := w.configuration()
	if w.chance(0.8) {
		object = w.mutated()
	}
	if entries, _ := pair.Get(object, "metadata", "managedFields").([]any); len(entries) > 0 {
		switch n := w.IntN(10); {
		case n == 0:
			object = with(object, []any{}, "metadata", "managedFields")
		case n == 1:
			object = with(object, []any{map[string]any{}}, "metadata", "managedFields")
		case n < 5:
			object = without(object, "metadata", "managedFields")
		}
	}
	if w.chance(0.5) {
		object = without(object, "metadata", "resourceVersion")
	}
	if isEnding(w.live) && w.chance(0.5) { // the update then deletes the object
		object = without(object, "metadata", "finalizers")
	}
	if w.chance(0.1) {
		object = w.spoiled(object)
	}
	q := w.request(http.MethodPut, "", query, "", object)
	q.UserAgent = agent
	return "update", q
}

// isEnding reports whether an object waits to be deleted.
func isEnding(object map[string]any) bool {
	return pair.Get(object, "metadata", "deletionTimestamp") != nil
}

// merge sends a merge patch, or a strategic one.
func (w *writer) merge(manager, contentType string) (string, pair.Request) {
	patch := w.configuration()
	for _, name := range [...]string{"apiVersion", "kind"} {
		if w.chance(0.7) {
			patch = without(patch, name)
		}
	}
	if w.chance(0.5) {
		patch = without(patch, "metadata")
	} else {
		patch = without(without(patch, "metadata", "name"), "metadata", "namespace")
	}
	patch = w.thinned(patch)
	if w.chance(0.5) {
		if l := w.place(patch, func(l place) bool { return len(l.path) > 1 }); l != nil {
			patch = put(patch, pair.Edit{Path: l.path})
		}
	}
	if isEnding(w.live) && w.chance(0.5) {
		patch = with(patch, nil, "metadata", "finalizers")
	}
	op := "merge patch"
	if contentType == strategicPatch {
		op = "strategic merge patch"
		items := func(l place) bool { // of lists of objects
			_, isObject := l.value.(map[string]any)
			_, inList := l.path[len(l.path)-1].(int)
			return isObject && inList
		}
		if l := w.place(patch, items); l != nil && w.chance(0.3) {
			patch = put(patch, pair.Edit{Path: append(l.path, "$patch"), Value: one(w, "delete", "replace", "merge")})
		}
	}
	return op, w.request(http.MethodPatch, "", w.query(manager, false), contentType, patch)
}

// edit sends a JSON patch.
func (w *writer) edit(manager string) (string, pair.Request) {
	var operations []any
	for range 1 + w.IntN(2) {
		l := w.place(w.live, func(l place) bool { return l.path[0] != "metadata" && l.path[0] != "apiVersion" && l.path[0] != "kind" })
		if l == nil {
			break
		}
		operation := map[string]any{"op": one(w, "replace", "replace", "remove", "test"), "path": l.pointer()}
		switch operation["op"] {
		case "replace":
			operation["value"] = one(w, l.value, w.other(l.value), nil)
		case "test":
			operation["value"] = l.value
		}
		operations = append(operations, operation)
	}
	if len(operations) == 0 || w.chance(0.3) {
		labels := map[string]any{"jp": one(w, "x", "y")}
		operations = append(operations, map[string]any{"op": "add", "path": "/metadata/labels", "value": labels})
	}
	return "json patch", w.request(http.MethodPatch, "", w.query(manager, false), jsonPatch, operations)
}

// other returns another value of the type of a scalar, or an empty one.
func (w *writer) other(v any) any {
	switch v := v.(type) {
	case bool:
		return !v
	case string:
		return v + "x"
	case map[string]any:
		return map[string]any{}
	case []any:
		return []any{}
	}
	return w.IntN(5)
}

// scale writes the number of replicas through the subresource.
func (w *writer) scale(manager string) (string, pair.Request) {
	spec := map[string]any{"replicas": w.IntN(5)}
	object := map[string]any{"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": w.identity(), "spec": spec}
	switch w.IntN(3) {
	case 0:
		return "scale update", w.request(http.MethodPut, "scale", w.query(manager, false), "", object)
	case 1:
		return "scale merge patch", w.request(http.MethodPatch, "scale", w.query(manager, false), mergePatch, map[string]any{"spec": spec})
	}
	return "scale apply", w.request(http.MethodPatch, "scale", w.query(manager, true), applyPatch, object)
}

// status writes the status, and sometimes what the endpoint ignores.
func (w *writer) status(manager string) (string, pair.Request) {
	status := w.newStatus()
	switch w.IntN(4) {
	case 0:
		return "status merge patch", w.request(http.MethodPatch, "status", w.query(manager, false), mergePatch, map[string]any{"status": status})
	case 1:
		object := w.named(map[string]any{})
		if w.live != nil {
			object = w.live
			if w.chance(0.3) {
				object = w.mutated()
			}
			if w.chance(0.5) {
				object = without(object, "metadata", "managedFields")
			}
		}
		return "status update", w.request(http.MethodPut, "status", w.query(manager, false), "", with(object, status, "status"))
	}
	object := w.named(map[string]any{})
	if w.chance(0.3) {
		object = w.configuration()
	}
	return "status apply", w.request(http.MethodPatch, "status", w.query(manager, true), applyPatch, with(object, status, "status"))
}

// subresource writes the object through any of its subresources.
func (w *writer) subresource(manager string) (string, pair.Request) {
	name := one(w, w.kind.subresources...)
	switch {
	case w.live == nil || w.chance(0.3):
		return name + " apply", w.request(http.MethodPatch, name, w.query(manager, true), applyPatch, w.configuration())
	case w.chance(0.3):
		return name + " merge patch", w.request(http.MethodPatch, name, w.query(manager, false), mergePatch, without(w.configuration(), "metadata"))
	}
	return name + " update", w.request(http.MethodPut, name, w.query(manager, false), "", w.mutated())
}

// odd sends an apply or a merge patch that has something wrong beside its content.
func (w *writer) odd(manager string) (string, pair.Request) {
	object, query, contentType := any(w.configuration()), "fieldManager="+manager, applyPatch
	set := func(v any, path ...string) { object = with(object.(map[string]any), v, path...) }
	switch w.IntN(14) {
	case 0:
		query = ""
	case 1:
		set(one[any](w, []any{map[string]any{"manager": "x"}}, []any{}, nil), "metadata", "managedFields")
	case 2:
		set("other", "metadata", "name")
	case 3:
		set(one(w, "v9", "apps/v1beta1", "v1", "nope.io/v1"), "apiVersion")
	case 4:
		query += "&dryRun=Some"
	case 5:
		set("00000000-0000-0000-0000-000000000000", "metadata", "uid")
	case 6:
		contentType, query = mergePatch, query+"&force=true"
	case 7:
		query += "&fieldValidation=Loud"
	case 8:
		query += "&fieldManager=" + strconv.Itoa(1e9)
	case 9:
		set("Other", "kind")
	case 10:
		set("900000001", "metadata", "resourceVersion") // that of no object
	case 11:
		object = one[any](w, []any{}, "text", 1, nil)
	case 12:
		set("elsewhere", "metadata", "namespace")
	case 13:
		object = without(object.(map[string]any), "metadata", "name")
	}
	return "odd write", w.request(http.MethodPatch, "", query, contentType, object)
}

func (w *writer) delete() (string, pair.Request) {
	options := one(w, "", "", "dryRun=All", "propagationPolicy=Background", "propagationPolicy=Orphan", "propagationPolicy=Foreground",
		"gracePeriodSeconds=0", "gracePeriodSeconds=5")
	return "delete", w.request(http.MethodDelete, "", options, "", nil)
}
