package main

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"hash/fnv"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"github.com/deed-project/deed/oracle/pair"
)

// hooks are the webhooks of a campaign. They are all paths of one server, of the form /SIDE/KIND/HOOK, where the side is there or here.
// What a hook answers depends on its name, the operation and the subresource alone. The calls are kept, so that those of both sides can be
// compared.
type hooks struct {
	*httptest.Server
	mu    sync.Mutex
	calls map[string][]call // by side and kind
}

type call struct {
	hook   string
	review any // masked
}

func newHooks() *hooks {
	h := &hooks{calls: map[string][]call{}}
	h.Server = httptest.NewUnstartedServer(h)
	h.Config.ErrorLog = log.New(nowhere{}, "", 0) // handshakes that end when a server ends
	h.StartTLS()
	return h
}

type nowhere struct{}

func (nowhere) Write(b []byte) (int, error) { return len(b), nil }

// take returns the reviews of the calls of a side about a kind since the last time, by the name of the hook and the number of its call.
func (h *hooks) take(side, kind string) map[string]any {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := side + "/" + kind
	out := map[string]any{}
	for _, c := range h.calls[key] {
		n := 1
		for out[fmt.Sprint(c.hook, " ", n)] != nil {
			n++
		}
		out[fmt.Sprint(c.hook, " ", n)] = c.review
	}
	delete(h.calls, key)
	return out
}

// note adds the calls to an outcome.
func (h *hooks) note(o *outcome, side, kind string) {
	o.calls = h.take(side, kind)
	o.unite(side)
}

// unite replaces what the texts of an answer have of the side, which errors of calls show, and sorts the warnings of validating webhooks.
func (o *outcome) unite(side string) {
	if o.calls == nil {
		return
	}
	one := func(text string) string { return strings.ReplaceAll(text, "/"+side+"/", "/SIDE/") }
	o.answer.Message = one(o.answer.Message)
	for i := range o.answer.Details.Causes {
		o.answer.Details.Causes[i].Message = one(o.answer.Details.Causes[i].Message)
	}
	for i, warning := range o.answer.Warnings {
		o.answer.Warnings[i] = one(warning)
	}
	slices.Sort(o.answer.Warnings)
}

// ServeHTTP answers a call.
func (h *hooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")
	var review map[string]any
	d := json.NewDecoder(r.Body)
	d.UseNumber()
	if err := d.Decode(&review); err != nil || len(parts) != 3 {
		http.Error(w, fmt.Sprint("no review: ", err), http.StatusBadRequest)
		return
	}
	request, _ := review["request"].(map[string]any)
	h.mu.Lock()
	key := parts[0] + "/" + parts[1]
	h.calls[key] = append(h.calls[key], call{parts[2], pair.MaskedValue(review)})
	h.mu.Unlock()
	hash := fnv.New64a()
	fmt.Fprint(hash, parts[1], parts[2], request["operation"], request["subResource"])
	answer(w, rand.New(rand.NewPCG(hash.Sum64(), 0)), review, request, strings.HasPrefix(parts[2], "m"))
}

// answer writes what a hook says: mostly something right.
func answer(w http.ResponseWriter, r *rand.Rand, review, request map[string]any, mutates bool) {
	response := map[string]any{"uid": request["uid"], "allowed": true}
	out := map[string]any{"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response}
	patch := func(operations any) {
		text, err := json.Marshal(operations)
		if err != nil {
			panic(err) // it is plain data
		}
		response["patchType"], response["patch"] = "JSONPatch", base64.StdEncoding.EncodeToString(text)
	}
	object, _ := request["object"].(map[string]any)
	n := r.IntN(100)
	if mutates && n < 60 && object != nil {
		labels := map[string]any{"op": "add", "path": "/metadata/labels", "value": map[string]any{"hook": fmt.Sprint(r.IntN(3))}}
		operations := []any{labels}
		switch n % 12 {
		case 0:
			operations = []any{map[string]any{"op": "add", "path": "/metadata/annotations", "value": map[string]any{"a.example.org/b": "c"}}}
		case 1:
			operations = []any{map[string]any{"op": "remove", "path": "/metadata/labels"}}
		case 2:
			operations = []any{map[string]any{"op": "replace", "path": "/metadata/name", "value": "other"}}
		case 3:
			operations = append(operations, map[string]any{"op": "test", "path": "/kind", "value": "Other"})
		case 4:
			operations = []any{map[string]any{"op": "add", "path": "/metadata/labels", "value": 1}}
		case 5:
			operations = []any{map[string]any{"op": "add", "path": "/nope", "value": 1}}
		case 6:
			operations = append(operations, map[string]any{"op": "add", "path": "/metadata/labels/more", "value": "1"})
		case 7:
			operations = []any{map[string]any{"op": "add", "path": "/metadata/finalizers", "value": []any{"a.example.org/b"}}}
		case 8:
			operations = []any{}
		}
		patch(operations)
	}
	switch r.IntN(24) {
	case 0:
		response["allowed"] = false
	case 1:
		response["allowed"], response["status"] = false, map[string]any{"message": "no, <never>", "code": 403 + r.IntN(3), "reason": "Custom"}
	case 2:
		response["allowed"], response["status"] = false, map[string]any{"message": "no", "details": map[string]any{"causes": []any{map[string]any{"field": "a", "message": "b"}}}}
	case 3:
		response["warnings"] = []any{"first", "second \"quoted\""}
	case 4:
		response["warnings"] = []any{strings.Repeat("long", 100), "", "tab\there"}
	case 5:
		response["uid"] = "other"
	case 6:
		out["apiVersion"] = "admission.k8s.io/v2"
	case 7:
		delete(out, "response")
	case 8:
		delete(out, "kind")
	case 9:
		http.Error(w, "gone wrong", http.StatusInternalServerError)
		return
	case 10:
		w.Write([]byte("{"))
		return
	case 11:
		response["patch"] = base64.StdEncoding.EncodeToString([]byte("{}"))
	case 12:
		response["auditAnnotations"] = map[string]any{"a": "b"}
	case 13:
		response["status"] = map[string]any{"code": 299, "message": "fine"}
	case 14:
		response["nope"] = 1
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write([]byte(pair.Text(out)))
}

// conditions are expressions of matchConditions. Some fail for some requests.
var conditions = []string{
	"request.operation != 'DELETE'", "object != null", "has(object.metadata.labels)", "object.metadata.name.startsWith('h')", "oldObject == null",
	"request.userInfo.username == 'admin'", "object.metadata.labels['app'] == 'x'", "!request.dryRun", "request.subResource == ''",
	"size(object.metadata.annotations) > 0",
	"object.spec.replicas > 1", "authorizer.group('').resource('pods').check('get').allowed()",
}

// configure creates the webhook configurations of the kinds on both servers: for each kind random ones, which are about this kind alone.
func (c *campaign) configure(kinds []*kind) error {
	authority := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.hooks.Certificate().Raw}))
	for i, k := range kinds {
		r := rand.New(rand.NewPCG(c.seed, uint64(i)))
		for _, form := range [...]string{"Mutating", "Validating"} {
			for n := range r.IntN(3) {
				name := fmt.Sprintf("%s-%s-%d", strings.ToLower(form), strings.ToLower(k.name), n)
				var list []any
				for hook := range 1 + r.IntN(2) {
					list = append(list, newHook(r, k, form, fmt.Sprintf("%s%d-%d", strings.ToLower(form[:1]), n, hook)))
				}
				for side, s := range map[string]*pair.Server{"there": c.real, "here": c.deed} {
					text := strings.NewReplacer("SIDE", side, "AUTHORITY", authority, "SERVER", c.hooks.URL).Replace(pair.Text(list))
					var webhooks any
					if err := json.Unmarshal([]byte(text), &webhooks); err != nil {
						return err
					}
					body := map[string]any{
						"apiVersion": "admissionregistration.k8s.io/v1", "kind": form + "WebhookConfiguration",
						"metadata": map[string]any{"name": name}, "webhooks": webhooks,
					}
					path := "/apis/admissionregistration.k8s.io/v1/" + strings.ToLower(form) + "webhookconfigurations"
					a, err := s.Send(pair.Request{Method: http.MethodPost, Path: path, Body: body})
					if err == nil && a.Code != http.StatusCreated {
						err = fmt.Errorf("%s: %s", name, a)
					}
					if err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// newHook returns a random webhook about a kind. SIDE, SERVER and AUTHORITY stand for what is not equal on both servers, or is long.
func newHook(r *rand.Rand, k *kind, form, hook string) map[string]any {
	pick := func(of ...any) any { return of[r.IntN(len(of))] }
	var versions []any
	for _, g := range k.versions {
		versions = append(versions, g.Version[strings.Index(g.Version, "/")+1:])
	}
	plural := k.versions[0].Resources[k.name]
	resources := pick([]any{plural}, []any{plural}, []any{plural, plural + "/*"}, []any{plural + "/status"}, []any{plural, plural + "/scale"}, []any{"*/*"}, []any{"*"})
	out := map[string]any{
		"name":         fmt.Sprintf("%s.%s.example.org", hook, strings.ToLower(k.name)),
		"clientConfig": map[string]any{"url": fmt.Sprintf("SERVER/SIDE/%s/%s", k.name, hook), "caBundle": "AUTHORITY"},
		"rules": []any{map[string]any{
			"operations": pick([]any{"*"}, []any{"CREATE"}, []any{"CREATE", "UPDATE"}, []any{"UPDATE", "DELETE"}, []any{"CREATE", "UPDATE", "DELETE"}),
			"apiGroups":  []any{groupOf(k.versions[0].Version)}, "resources": resources, "scope": pick("*", "*", "*", "Namespaced", "Cluster"),
			"apiVersions": pick([]any{"*"}, versions[:1], versions),
		}},
		"admissionReviewVersions": pick([]any{"v1"}, []any{"v1", "v1beta1"}, []any{"v1beta1", "v1"}),
		"sideEffects":             pick("None", "None", "NoneOnDryRun"), "failurePolicy": pick("Fail", "Ignore"),
		"matchPolicy": pick("Exact", "Equivalent"), "timeoutSeconds": 5,
	}
	rule := out["rules"].([]any)[0].(map[string]any)
	if strings.HasPrefix(k.namespace, "writes-") {
		out["namespaceSelector"] = map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": k.namespace}}
		if strings.HasPrefix(rule["resources"].([]any)[0].(string), "*") { // a selector of namespaces leaves in what has none
			rule["scope"] = "Namespaced"
		}
	} else { // the kind has no namespace of its own
		rule["resources"] = []any{plural, plural + "/*"}
	}
	if r.IntN(4) == 0 {
		out["objectSelector"] = pick(
			map[string]any{"matchLabels": map[string]any{"app": "x"}},
			map[string]any{"matchExpressions": []any{map[string]any{"key": "tier", "operator": "DoesNotExist"}}},
			map[string]any{"matchExpressions": []any{map[string]any{"key": "hook", "operator": "Exists"}}})
	}
	if form == "Mutating" {
		out["reinvocationPolicy"] = pick("Never", "IfNeeded")
	}
	if r.IntN(3) == 0 {
		var list []any
		for i := range 1 + r.IntN(2) {
			list = append(list, map[string]any{"name": fmt.Sprint("c", i), "expression": conditions[r.IntN(len(conditions))]})
		}
		out["matchConditions"] = list
	}
	return out
}
