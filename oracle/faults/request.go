package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/deed-project/deed/oracle/pair"
)

// request is a write of a base object with faults. It changes nothing: all requests are dry runs.
type request struct {
	Base  string      `json:"base"`
	Onto  string      `json:"onto,omitempty"` // the stored object that is replaced; empty for a create
	Verb  string      `json:"verb"`           // create, update, or the name of a subresource
	Edits []pair.Edit `json:"edits,omitempty"`
}

const create, update = "create", "update"

// send sends a request. An update sends what the server has stored of the base object.
func (c *campaign) send(p *peer, r request) (pair.Answer, error) {
	b := c.bases[r.Base]
	if r.Verb == create {
		object := merged(b.Object, b.Create)
		if pair.Get(b.Create, "metadata", "name") == nil {
			object = pair.Put(object, []any{"metadata", "name"}, pair.Edit{Value: pair.Get(object, "metadata", "name").(string) + "-new"})
		}
		return p.send(http.MethodPost, b.Path+"?dryRun=All", pair.Apply(object, r.Edits))
	}
	object, onto := any(p.live[r.Base]), p.live[r.Onto]
	if r.Base != r.Onto {
		for _, name := range []string{"name", "uid", "resourceVersion", "creationTimestamp", "generation"} {
			v := pair.Get(onto, "metadata", name)
			object = pair.Put(object, []any{"metadata", name}, pair.Edit{Value: v, Remove: v == nil})
		}
	}
	path := b.Path + "/" + pair.Get(onto, "metadata", "name").(string)
	if r.Verb != update {
		path += "/" + r.Verb
	}
	return p.send(http.MethodPut, path+"?dryRun=All", pair.Apply(object, r.Edits))
}

// merged returns an object with the members of another one.
func merged(object any, with map[string]any) any {
	for name, v := range with {
		members, _ := object.(map[string]any)
		if below, ok := v.(map[string]any); ok {
			v = merged(members[name], below)
		}
		object = pair.Put(object, []any{name}, pair.Edit{Value: v, Remove: v == nil})
	}
	return object
}

// plan chooses the requests of a seed.
type plan struct {
	chooser
	kinds  []*kind
	fields []field // of all kinds
	next   int
}

// kind is a served kind with its base objects.
type kind struct {
	name         string
	bases        []*pair.Base
	subresources []string
	byField      map[string][]*pair.Location
	in           map[*pair.Location]*pair.Base
	places       map[*pair.Base][]*pair.Location
	beside       map[*pair.Base]map[string][]*pair.Location // by the path of their parent
}

type field struct {
	kind *kind
	name string
}

// request returns the next request: each field has its turn, with one fault or two.
func (p *plan) request() request {
	if p.next == len(p.fields) {
		p.Shuffle(len(p.fields), func(i, j int) { p.fields[i], p.fields[j] = p.fields[j], p.fields[i] })
		p.next = 0
	}
	f := p.fields[p.next]
	p.next++
	places := f.kind.byField[f.name]
	place := places[p.IntN(len(places))]
	b := f.kind.in[place]
	r := request{Base: b.ID, Onto: b.ID, Verb: p.verb(f), Edits: []pair.Edit{p.fault(place)}}
	if n := p.IntN(10); n < 4 {
		r.Edits = append(r.Edits, p.second(f.kind, b, place)...)
	}
	if r.Verb == create {
		r.Onto = ""
	} else if p.IntN(8) == 0 {
		other := f.kind.bases[p.IntN(len(f.kind.bases))]
		if r.Onto = other.ID; other != b && p.IntN(3) == 0 {
			r.Edits = nil
		}
	}
	return r
}

// everywhere returns the requests that put one value into each place of its type: by create, and by update of the object or its status. A text
// is also put into each map, as a key.
func (p *plan) everywhere(v any) []request {
	var out []request
	for _, f := range p.fields {
		l := f.kind.byField[f.name][0]
		id := f.kind.in[l].ID
		e := pair.Edit{Path: l.Path, Value: v}
		switch text, isText := v.(string); {
		case admits(l.Schema, v):
		case l.Schema.Additional != nil && isText:
			e.Path = append(slices.Clone(l.Path), text)
			if l.Schema.Additional.Type != "string" {
				e.Value = "1" // a quantity, or an error of both servers
			}
		default:
			continue
		}
		change := request{Base: id, Onto: id, Verb: update, Edits: []pair.Edit{e}}
		if strings.HasPrefix(f.name, "status.") && slices.Contains(f.kind.subresources, "status") {
			change.Verb = "status"
		}
		out = append(out, request{Base: id, Verb: create, Edits: []pair.Edit{e}}, change)
	}
	return out
}

func (p *plan) verb(f field) string {
	subresources := f.kind.subresources
	ofStatus := strings.HasPrefix(f.name, "status.") || f.name == "status"
	switch n := p.IntN(20); {
	case len(subresources) > 0 && (ofStatus && n < 14 || n < 1):
		if ofStatus && n < 12 {
			return "status"
		}
		return subresources[p.IntN(len(subresources))]
	case n%2 == 0:
		return create
	}
	return update
}

// second returns a fault at another place of the same object: often a sibling, so that members of a union meet.
func (p *plan) second(k *kind, b *pair.Base, first *pair.Location) []pair.Edit {
	from := k.places[b]
	if p.IntN(3) > 0 {
		from = k.beside[b][parent(first.Path)]
	}
	for range 5 {
		if l := from[p.IntN(len(from))]; !within(l.Path, first.Path) && !within(first.Path, l.Path) {
			return []pair.Edit{p.fault(l)}
		}
	}
	return nil
}

func parent(path []any) string { return fmt.Sprint(path[:len(path)-1]...) }

// within reports whether a path leads to or into another one.
func within(path, other []any) bool {
	if len(path) < len(other) {
		return false
	}
	for i := range other {
		if path[i] != other[i] {
			return false
		}
	}
	return true
}
