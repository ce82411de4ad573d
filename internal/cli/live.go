package cli

import (
	"fmt"
	"strings"
)

// liveObjects finds the stored object that a configuration is about.
type liveObjects struct {
	named    map[nameID][]*object
	complete bool // whether all live objects could be read
}

// nameID is an objectID without its namespace.
type nameID struct{ group, kind, name string }

func (id objectID) nameID() nameID { return nameID{id.group, id.kind, id.name} }

func newLiveObjects(objects []*object, complete bool) *liveObjects {
	l := &liveObjects{named: make(map[nameID][]*object, len(objects)), complete: complete}
	for _, o := range objects {
		l.named[o.id.nameID()] = append(l.named[o.id.nameID()], o)
	}
	return l
}

// find returns the live object that config is about, and nil when there is none.
//
//  1. It has the group, the kind, the namespace and the name of config, in whatever version.
//  2. If there is none, and either config or the live object does not say its namespace, the other's counts. No namespace is
//     not the namespace called default: which one it stands for is up to who applies.
//
// It is an error if there are several.
func (l *liveObjects) find(config *object) (*object, error) {
	var exact, loose []*object
	for _, o := range l.named[config.id.nameID()] {
		switch {
		case o.id == config.id:
			exact = append(exact, o)
		case o.id.namespace == "" || config.id.namespace == "":
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
		places[i] = o.at().String()
		if len(exact) == 0 {
			places[i] = fmt.Sprintf("%v at %v", o.id, o.at())
		}
	}
	if len(exact) > 0 {
		return nil, fmt.Errorf("%v is stored %d times: at %s", config.id, len(places), strings.Join(places, " and at "))
	}
	return nil, fmt.Errorf("%v may be %s: say its namespace", config.id, strings.Join(places, " or "))
}
