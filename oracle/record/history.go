package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/deed-project/deed/internal/testing/recording"
	"github.com/deed-project/deed/value"
)

const (
	perResource = 10 // scenarios
	perScenario = 10 // requests that write
)

// record records n scenarios.
func record(ctx context.Context, s *server, seed uint64, n int) ([]recording.Scenario, error) {
	var out []recording.Scenario
	for i := 0; len(out) < n; i++ {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		c := randomResource(r, seed, i)
		crd, err := value.FromAny(c.definition())
		if err != nil {
			return nil, err
		}
		if err := s.define(ctx, crd); err != nil {
			return nil, err
		}
		for _, v := range c.versions {
			if err := s.served(ctx, c.collection(v.name)); err != nil {
				return nil, err
			}
		}
		for j := 0; j < perResource && len(out) < n; j++ {
			h := &history{
				maker: maker{Rand: rand.New(rand.NewPCG(seed, uint64(i)<<16+uint64(j)+1<<32))}, server: s, resource: c,
				name: fmt.Sprintf("o%d", j), configs: map[string]any{},
			}
			steps, err := h.record(ctx)
			if err != nil {
				return nil, err
			}
			out = append(out, recording.Scenario{Name: fmt.Sprintf("r-%d-%d-%d", seed, i, j), Class: c.class, CRD: crd, Steps: steps})
		}
	}
	return out, nil
}

// history is a scenario that is being recorded.
type history struct {
	maker
	*server
	resource
	name    string
	live    map[string]any // the object in the last answer; nil if there is none
	configs map[string]any // last configuration of each manager
	version version        // of the next request
}

func (h *history) record(ctx context.Context) ([]recording.Step, error) {
	var steps []recording.Step
	for i := 0; i <= perScenario; i++ {
		h.version = h.versions[h.IntN(len(h.versions))]
		path := h.collection(h.version.name) + "/" + h.name
		step := recording.Step{Method: http.MethodGet, Path: path}
		if i < perScenario {
			var err error
			if step, err = h.step(path); err != nil {
				return nil, err
			}
		}
		if err := h.exchange(ctx, &step, path); err != nil {
			return nil, err
		}
		steps = append(steps, step)
		_, live, _, err := h.ask(ctx, recording.Step{Method: http.MethodGet, Path: path}, nil)
		if err != nil {
			return nil, err
		}
		if step.Method == http.MethodDelete {
			if err := h.forgotten(ctx, path); err != nil {
				return nil, err
			}
		}
		if h.live = nil; live.Get("kind").Str() != "Status" {
			h.live, _ = live.ToAny().(map[string]any)
		}
	}
	return steps, nil
}

// step makes the next request.
func (h *history) step(path string) (recording.Step, error) {
	q := url.Values{}
	manager := []string{"alice", "bob", "carol", "kubectl"}[h.IntN(4)]
	q.Set("fieldManager", manager)
	h.oddities = oddities{nulls: 15, duplicates: 60}
	if h.class == "defaults" || h.class == "request" {
		h.unknown = 120
	}
	step := recording.Step{Path: path}
	var body any
	switch k := h.IntN(20); {
	case h.live == nil && k < 7:
		h.wrong = 10
		step.Method, step.Path, step.ContentType = http.MethodPost, strings.TrimSuffix(path, "/"+h.name), "application/json"
		body = h.object(h.spec(nil))
	case h.live != nil && k < 5:
		h.wrong = 10
		step.Method, step.ContentType = http.MethodPut, "application/json"
		body = h.replacement()
	case k < 8:
		step.Method, step.ContentType = http.MethodPatch, "application/merge-patch+json"
		h.nulls = 150
		body = map[string]any{"spec": h.spec(nil)}
	case h.class == "request" && h.live != nil && k == 8:
		step.Method = http.MethodDelete
		q.Del("fieldManager")
	case h.class == "request" && k < 11:
		body = h.status(&step, q)
	case h.version.scale && k < 13:
		body = h.scale(&step, q)
	default:
		step.Method, step.ContentType = http.MethodPatch, "application/apply-patch+yaml"
		body = h.config(manager)
		if h.IntN(20) < 7 {
			q.Set("force", "true")
		}
	}
	if h.class == "request" && !strings.HasSuffix(step.Path, "/scale") {
		body = h.disturb(&step, q, body)
	}
	step.Query = q.Encode()
	if body == nil {
		return step, nil
	}
	var err error
	step.Body, err = value.FromAny(body)
	return step, err
}

// spec makes a spec with parts of old, which may be nil, and perhaps with one unknown field.
func (h *history) spec(old any) any {
	shape := h.version.spec
	nulls, wrong := h.nulls, h.wrong
	h.nulls, h.wrong = h.nulls/5, h.wrong/5
	spec := h.maker.value(shape)
	h.nulls, h.wrong = nulls, wrong
	if object, ok := spec.(map[string]any); ok {
		for _, f := range shape.fields { // one more value, with all oddities
			if h.IntN(2) == 0 {
				object[f.name] = h.maker.value(f.shape)
			}
		}
	}
	if old != nil && h.IntN(3) > 0 {
		spec = h.mix(shape, old, spec)
	}
	if object, ok := spec.(map[string]any); ok && h.odd(h.unknown) {
		object["unknown"] = "u"
	}
	return spec
}

func (h *history) apiVersion() string { return h.group + "/" + h.version.name }

// object makes an object with the given spec.
func (h *history) object(spec any) map[string]any {
	metadata := map[string]any{"name": h.name}
	if h.IntN(3) == 0 {
		metadata["labels"] = map[string]any{[]string{"l1", "l2"}[h.IntN(2)]: words[3+h.IntN(3)]}
	}
	if h.IntN(12) == 0 {
		metadata["annotations"] = map[string]any{"t.io/a": words[h.IntN(len(words))]}
	}
	if h.class != "request" && h.IntN(12) == 0 {
		metadata["finalizers"] = []any{[]string{"t.io/f1", "t.io/f2"}[h.IntN(2)]}
	}
	if h.IntN(16) == 0 {
		metadata["ownerReferences"] = []any{map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": []string{"u-1", "u-2"}[h.IntN(2)],
		}}
	}
	out := map[string]any{"apiVersion": h.apiVersion(), "kind": "Thing", "metadata": metadata}
	if spec != nil || h.IntN(2) == 0 {
		out["spec"] = spec
	}
	return out
}

// config makes a manager's configuration: a new one, its last one changed, or parts of the live object.
func (h *history) config(manager string) any {
	var old any
	switch h.IntN(3) {
	case 0:
		old = h.configs[manager]
	case 1:
		old = h.live["spec"]
	}
	spec := h.spec(old)
	h.configs[manager] = spec
	return h.object(spec)
}

// replacement makes the object of a PUT.
func (h *history) replacement() any {
	out := h.object(h.spec(h.live["spec"]))
	metadata := out["metadata"].(map[string]any)
	metadata["namespace"], metadata["resourceVersion"] = "default", "$RV"
	managed, _ := h.live["metadata"].(map[string]any)["managedFields"].([]any)
	switch k := h.IntN(40); {
	case k < 4:
		metadata["managedFields"] = []any{map[string]any{}}
	case k < 6:
		metadata["managedFields"] = []any{}
	case k < 10 && len(managed) > 0:
		metadata["managedFields"] = h.edited(managed)
	case k < 13:
		h.recordClientSide(out)
	case k == 13:
		metadata["managedFields"] = h.crowd()
	}
	return out
}

// edited returns managed fields as a client may edit them.
func (h *history) edited(entries []any) any {
	entries = slices.Clone(entries)
	i := h.IntN(len(entries))
	entry := map[string]any{}
	for name, v := range entries[i].(map[string]any) {
		entry[name] = v
	}
	switch h.IntN(6) {
	case 0:
		return slices.Delete(entries, i, i+1)
	case 1:
		entry["manager"] = "dave"
	case 2:
		entry["operation"] = "Apply"
	case 3:
		entry["apiVersion"] = h.group + "/v0" // an unknown version
	case 4:
		entry["operation"] = "Undo"
	case 5:
		entry["fieldsV1"] = map[string]any{"f:spec": map[string]any{".": map[string]any{}, "f:a": map[string]any{}}}
	}
	entries[i] = entry
	return entries
}

// crowd returns the managed fields of many updaters; the server joins the oldest.
func (h *history) crowd() any {
	var entries []any
	fields := h.version.spec.fields
	for i := range 9 + h.IntN(4) {
		owned := map[string]any{"f:" + fields[h.IntN(len(fields))].name: map[string]any{}}
		entries = append(entries, map[string]any{
			"manager": fmt.Sprintf("m%02d", i), "operation": "Update", "apiVersion": h.apiVersion(), "fieldsType": "FieldsV1",
			"time":     fmt.Sprintf("2020-01-01T00:00:%02dZ", h.IntN(30)),
			"fieldsV1": map[string]any{"f:spec": owned},
		})
	}
	return entries
}

// recordClientSide adds the record of client-side apply to an object.
func (h *history) recordClientSide(object map[string]any) {
	text, err := json.Marshal(map[string]any{
		"apiVersion": object["apiVersion"], "kind": object["kind"], "spec": object["spec"],
		"metadata": map[string]any{"name": h.name, "namespace": "default"},
	})
	if err != nil {
		panic(err) // cannot happen: it has only JSON values
	}
	annotations := map[string]any{"kubectl.kubernetes.io/last-applied-configuration": string(text)}
	object["metadata"].(map[string]any)["annotations"] = annotations
}

// status makes a write through the status subresource.
func (h *history) status(step *recording.Step, q url.Values) any {
	step.Path += "/status"
	out := h.object(nil)
	out["status"] = h.maker.value(statusShape)
	if h.IntN(3) == 0 && h.live != nil {
		step.Method, step.ContentType = http.MethodPut, "application/json"
		metadata := out["metadata"].(map[string]any)
		metadata["namespace"], metadata["resourceVersion"] = "default", "$RV"
		return out
	}
	step.Method, step.ContentType = http.MethodPatch, "application/apply-patch+yaml"
	if h.IntN(2) == 0 {
		q.Set("force", "true")
	}
	return out
}

// scale makes a request to the scale subresource.
func (h *history) scale(step *recording.Step, q url.Values) any {
	step.Path += "/scale"
	metadata := map[string]any{"name": h.name}
	spec := map[string]any{"replicas": int64(h.IntN(4))}
	out := map[string]any{"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata, "spec": spec}
	switch h.IntN(8) {
	case 0, 1:
		step.Method, step.ContentType = http.MethodPut, "application/json"
		metadata["namespace"] = "default"
		if h.IntN(2) == 0 {
			metadata["resourceVersion"] = "$RV"
		}
		return out
	case 2:
		step.Method, step.ContentType = http.MethodPatch, "application/merge-patch+json"
		return map[string]any{"spec": spec}
	case 3:
		step.Method = http.MethodGet
		q.Del("fieldManager")
		return nil
	}
	step.Method, step.ContentType = http.MethodPatch, "application/apply-patch+yaml"
	if h.IntN(2) == 0 {
		q.Set("force", "true")
	}
	return out
}

// disturb adds options and mistakes to a request.
func (h *history) disturb(step *recording.Step, q url.Values, body any) any {
	if h.IntN(8) == 0 {
		q.Set("dryRun", "All")
	}
	merge := step.ContentType == "application/merge-patch+json"
	// A strict merge patch answers with uids.
	if k := h.IntN(10); k < 3 && step.Method != http.MethodDelete && !(merge && k == 2) {
		q.Set("fieldValidation", []string{"Ignore", "Warn", "Strict"}[k])
	}
	if h.IntN(30) == 0 {
		h.mistakeInOptions(step, q)
	}
	object, ok := body.(map[string]any)
	if !ok || merge || h.IntN(20) > 0 {
		return body
	}
	metadata := object["metadata"].(map[string]any)
	switch h.IntN(7) {
	case 0:
		object["apiVersion"] = h.group + "/v9"
	case 1:
		metadata["name"] = "other"
		if step.Method == http.MethodPost {
			metadata["name"] = h.name
		}
	case 2:
		metadata["namespace"] = "other"
	case 3:
		delete(metadata, "resourceVersion")
	case 4:
		metadata["resourceVersion"] = "999999999"
		if step.Method == http.MethodPost {
			delete(metadata, "resourceVersion")
		}
	case 5:
		if step.Method == http.MethodPatch {
			metadata["managedFields"] = []any{map[string]any{"manager": "x"}}
		}
	case 6:
		if step.Method == http.MethodPatch {
			metadata["uid"] = "00000000-0000-0000-0000-000000000000"
		}
	}
	return object
}

func (h *history) mistakeInOptions(step *recording.Step, q url.Values) {
	switch h.IntN(6) {
	case 0:
		q.Set("fieldManager", strings.Repeat("0", 128)+"1")
	case 1:
		q.Set("fieldManager", "a\tb")
	case 2:
		q.Del("fieldManager")
	case 3:
		q.Set("dryRun", "Some")
	case 4:
		if step.Method != http.MethodDelete {
			q.Set("fieldValidation", "Loud")
		}
	case 5:
		q.Set("force", "true")
	}
}
