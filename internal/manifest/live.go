package manifest

import (
	"fmt"
	"strings"
)

// Live finds the stored object that a configuration is about.
type Live struct {
	named    map[nameID][]*Object
	Complete bool // whether all live objects could be read
}

// nameID is an objectID without its namespace.
type nameID struct{ group, kind, name string }

func (id ID) nameID() nameID { return nameID{id.Group, id.Kind, id.Name} }

// NewLive returns objects, to be found by what they are. complete says whether they are all that could be stored.
func NewLive(objects []*Object, complete bool) *Live {
	l := &Live{named: make(map[nameID][]*Object, len(objects)), Complete: complete}
	for _, o := range objects {
		l.named[o.Id.nameID()] = append(l.named[o.Id.nameID()], o)
	}
	return l
}

// Find returns the live object that config is about, and nil when there is none.
//
//  1. It has the group, the kind, the namespace and the name of config, in whatever version.
//  2. If there is none, and either config or the live object does not say its namespace, the other's counts. No namespace is
//     not the namespace called default: which one it stands for is up to who applies.
//
// It is an error if there are several.
func (l *Live) Find(config *Object) (*Object, error) {
	var exact, loose []*Object
	for _, o := range l.named[config.Id.nameID()] {
		switch {
		case o.Id == config.Id:
			exact = append(exact, o)
		case o.Id.Namespace == "" || config.Id.Namespace == "":
			loose = append(loose, o)
		}
	}
	candidates := exact
	if len(candidates) == 0 {
		candidates = loose
	}
	switch len(candidates) {
	case 0:
		return nil, nil
	case 1:
		return candidates[0], nil
	}
	places := make([]string, len(candidates))
	for i, o := range candidates {
		places[i] = o.At().String()
		if len(exact) == 0 {
			places[i] = fmt.Sprintf("%v at %v", o.Id, o.At())
		}
	}
	if len(exact) > 0 {
		return nil, fmt.Errorf("%v is stored %d times: at %s", config.Id, len(places), strings.Join(places, " and at "))
	}
	return nil, fmt.Errorf("%v may be %s: say its namespace", config.Id, strings.Join(places, " or "))
}
