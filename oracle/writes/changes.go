package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/deed-project/deed/oracle/pair"
)

// change is a change of a definition before one of the writes of a history.
type change struct {
	definition *definition
	versions   []any // of the changed definition, with a column that names the change
	mark       string
	request    pair.Request
}

// changes returns the changes of the definition that a history has, by the write that they come before. Less than half of the
// histories have some.
func (h *history) changes() map[int]*change {
	d := h.kind.definition
	m := maker{Rand: rand.New(rand.NewPCG(h.seed, 1<<32))}
	out := map[int]*change{}
	if d == nil || m.chance(0.55) {
		return out
	}
	versions := d.first()
	for n := 1; n < steps; n++ {
		if !m.chance(0.25) {
			continue
		}
		if m.chance(0.2) {
			versions = d.first()
		}
		versions = m.revised(versions)
		mark := fmt.Sprintf("Change%d-%d", h.number, n)
		out[n] = d.change(m, marked(versions, mark), mark)
	}
	return out
}

// change returns the write that gives a definition other versions.
func (d *definition) change(m maker, versions []any, mark string) *change {
	c := &change{definition: d, versions: versions, mark: mark}
	c.request = pair.Request{Method: http.MethodPatch, Path: d.path() + "?fieldManager=definer"}
	switch body := with(d.body, versions, "spec", "versions"); m.IntN(3) {
	case 0:
		c.request.ContentType, c.request.Body = applyPatch, body
		c.request.Path += "&force=true"
	case 1:
		c.request.ContentType = jsonPatch
		c.request.Body = []any{map[string]any{"op": "replace", "path": "/spec/versions", "value": versions}}
	default:
		c.request.ContentType, c.request.Body = mergePatch, map[string]any{"spec": map[string]any{"versions": versions}}
	}
	return c
}

// restored returns the write that gives a definition its first versions again.
func (d *definition) restored() *change {
	return d.change(maker{Rand: rand.New(rand.NewPCG(0, 0))}, d.first(), "")
}

// first returns the versions that a definition is created with.
func (d *definition) first() []any { return pair.Get(d.body, "spec", "versions").([]any) }

// marked returns versions with a column of the given name, which shows when a server serves them.
func marked(versions []any, name string) []any {
	column := map[string]any{"name": name, "type": "date", "jsonPath": ".metadata.creationTimestamp"}
	out := slices.Clone(versions)
	for i, v := range out {
		v := maps.Clone(v.(map[string]any))
		columns, _ := v["additionalPrinterColumns"].([]any)
		v["additionalPrinterColumns"] = append(slices.Clone(columns), column)
		out[i] = v
	}
	return out
}

// redefine changes the definition on both servers, and waits until they serve it. If a server refuses it, nothing has changed.
func (c *campaign) redefine(change *change) (there, here outcome, err error) {
	if there, here, err = c.both(change.request); err != nil || there.answer.Code != http.StatusOK || here.answer.Code != http.StatusOK {
		return there, here, err
	}
	for _, s := range [...]*pair.Server{c.real, c.deed} {
		if err := change.served(s); err != nil {
			return there, here, err
		}
	}
	return there, here, nil
}

// restore gives a definition its first versions again, as if it never had others.
func (c *campaign) restore(d *definition) error {
	there, here, err := c.redefine(d.restored())
	if err == nil && there.answer.Code == http.StatusOK && here.answer.Code == http.StatusOK {
		status := map[string]any{"storedVersions": []any{"v1"}}
		q := pair.Request{Method: http.MethodPatch, Path: d.path() + "/status", ContentType: mergePatch, Body: map[string]any{"status": status}}
		there, here, err = c.both(q)
	}
	if err == nil && (there.answer.Code != http.StatusOK || here.answer.Code != http.StatusOK) {
		err = fmt.Errorf("%s: %s there, %s here", d.path(), there.answer, here.answer)
	}
	return err
}

// served waits until a server serves the versions of a change, and no others.
func (c *change) served(s *pair.Server) error {
	d := c.definition
	serves := map[string]bool{"v1": false, "v1beta1": false, "v2": false}
	for _, v := range c.versions {
		v := v.(map[string]any)
		serves[v["name"].(string)] = v["served"].(bool)
	}
	for _, version := range slices.Sorted(maps.Keys(serves)) {
		path := fmt.Sprint("/apis/", d.group, "/", version, "/", d.plural, "?limit=1")
		for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
			a, err := s.Send(pair.Request{Method: http.MethodGet, Path: path, Accept: asTable})
			if err != nil {
				return err
			}
			if strings.Contains(a.Message, "conversion webhook") { // it fails for a stored object, so that nothing is listed
				break
			}
			if a.Code == http.StatusNotFound && !serves[version] || a.Code == http.StatusOK && serves[version] && c.mark == markOf(a.Object) {
				break
			}
			if time.Now().After(end) {
				return fmt.Errorf("%s%s: %s, with the mark %q in place of %q", s, path, a, markOf(a.Object), c.mark)
			}
		}
	}
	return nil
}

// markOf returns the name of the column of a Table that names a change, empty if it has none.
func markOf(table map[string]any) string {
	columns, _ := table["columnDefinitions"].([]any)
	for _, c := range columns {
		if name, _ := pair.Get(c, "name").(string); strings.HasPrefix(name, "Change") {
			return name
		}
	}
	return ""
}

// revised returns versions of a definition with one or two changes. Some are not allowed.
func (m maker) revised(versions []any) []any {
	versions = slices.Clone(versions)
	for range 1 + m.IntN(2) {
		i := m.IntN(len(versions))
		v := maps.Clone(versions[i].(map[string]any))
		versions[i] = v
		schema := v["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
		edit := func(f func(map[string]any)) {
			v["schema"] = map[string]any{"openAPIV3Schema": m.everywhere(schema, 0.3, f)}
		}
		switch m.IntN(9) {
		case 0:
			v["schema"] = map[string]any{"openAPIV3Schema": m.changed(schema)}
		case 1, 2:
			edit(m.retype)
		case 3:
			edit(m.tighten)
		case 4:
			edit(func(s map[string]any) { toggle(s, "x-kubernetes-preserve-unknown-fields", s["type"] == "object") })
		case 5:
			edit(m.defaulted)
		case 6:
			subresources, _ := v["subresources"].(map[string]any)
			subresources = maps.Clone(subresources)
			if subresources == nil {
				subresources = map[string]any{}
			}
			if subresources["status"] == nil {
				subresources["status"] = map[string]any{}
			} else {
				delete(subresources, "status")
			}
			v["subresources"] = subresources
		case 7:
			versions = m.otherVersions(versions)
		case 8:
			v["schema"] = map[string]any{"openAPIV3Schema": m.root().schema}
			delete(v, "selectableFields")
			delete(v, "additionalPrinterColumns")
		}
	}
	return versions
}

// otherVersions stores another version, stops to serve one, removes one or adds one.
func (m maker) otherVersions(versions []any) []any {
	last := len(versions) - 1
	switch n := m.IntN(4); {
	case last == 0 || n == 0 && last == 1:
		added := maps.Clone(versions[0].(map[string]any))
		added["name"], added["storage"] = "v2", false
		return append(versions, added)
	case n == 1:
		return versions[:last]
	case n == 2:
		v := maps.Clone(versions[last].(map[string]any))
		v["served"] = !v["served"].(bool)
		versions[last] = v
		return versions
	}
	stored := pick(m, "v1", "v1beta1") // not v2, which could never go then; without v1beta1, none is stored
	for i := range versions {
		v := maps.Clone(versions[i].(map[string]any))
		v["storage"] = v["name"] == stored
		versions[i] = v
	}
	return versions
}

// everywhere returns a schema with edits of some of the schemas in it.
func (m maker) everywhere(schema map[string]any, p float64, edit func(map[string]any)) map[string]any {
	out := maps.Clone(schema)
	if members, ok := schema["properties"].(map[string]any); ok {
		edited := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if edited[name] = members[name]; name != "metadata" {
				edited[name] = m.everywhere(members[name].(map[string]any), p, edit)
			}
		}
		out["properties"] = edited
	}
	for _, below := range [...]string{"items", "additionalProperties"} {
		if s, ok := schema[below].(map[string]any); ok {
			out[below] = m.everywhere(s, p, edit)
		}
	}
	if m.chance(p) {
		edit(out)
	}
	return out
}

func toggle(schema map[string]any, word string, allowed bool) {
	switch {
	case schema[word] == true:
		delete(schema, word)
	case allowed:
		schema[word] = true
	}
}

// retype makes lists and maps atomic, granular, sets or maps.
func (m maker) retype(schema map[string]any) {
	if schema["type"] == "object" {
		schema["x-kubernetes-map-type"] = pick(m, "atomic", "granular")
		return
	}
	items, ok := schema["items"].(map[string]any)
	if !ok {
		return
	}
	delete(schema, "x-kubernetes-list-map-keys")
	members, _ := items["properties"].(map[string]any)
	switch k, _ := members["k"].(map[string]any); {
	case k["type"] == "string" || k["type"] == "integer":
		if schema["x-kubernetes-list-type"] = pick(m, "atomic", "map"); schema["x-kubernetes-list-type"] == "map" {
			schema["x-kubernetes-list-map-keys"] = []any{"k"}
		}
	case items["type"] == "string" || items["type"] == "integer":
		schema["x-kubernetes-list-type"] = pick(m, "atomic", "set")
	default:
		schema["x-kubernetes-list-type"] = "atomic"
	}
}

// tighten forbids what objects may have that are stored.
func (m maker) tighten(schema map[string]any) {
	switch schema["type"] {
	case "string":
		switch m.IntN(3) {
		case 0:
			schema["maxLength"] = 1
		case 1:
			schema["enum"] = []any{"x"}
		case 2:
			schema["pattern"] = "^[ax]$"
		}
	case "integer":
		schema["maximum"] = 2
	case "array":
		schema["maxItems"] = 1
	case "object":
		members, _ := schema["properties"].(map[string]any)
		if len(members) == 0 {
			schema["maxProperties"] = 1
			return
		}
		required, _ := schema["required"].([]any)
		schema["required"] = append(slices.Clone(required), slices.Sorted(maps.Keys(members))[0])
	}
}

// defaulted gives a schema a default value, or takes it away.
func (m maker) defaulted(schema map[string]any) {
	if schema["default"] != nil {
		delete(schema, "default")
		return
	}
	switch schema["type"] {
	case "string":
		schema["default"] = pick(m, "x", "a")
	case "integer":
		schema["default"] = 2
	case "boolean":
		schema["default"] = true
	case "object":
		schema["default"] = map[string]any{}
	case "array":
		schema["default"] = []any{}
	}
}
