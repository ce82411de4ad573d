package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"

	"github.com/deed-project/deed/oracle/pair"
)

// watch returns functions that tell the events of the object, one for each server, if the history is one of the fourth that is watched. Half
// of these watches begin where the history does, and the others with the object as it is when the function is called. A selector may let the
// object come and go.
func (h *history) watch(servers ...*pair.Server) ([]func() any, error) {
	r := rand.New(rand.NewPCG(h.seed, steps))
	if r.IntN(4) > 0 {
		return nil, nil
	}
	g := h.kind.versions[r.IntN(len(h.kind.versions))]
	path := g.Collection(h.kind.name, h.kind.namespace) + "?fieldSelector=metadata.name%3D" + h.name
	path += [...]string{"", "&labelSelector=app", "&labelSelector=tier!=x"}[r.IntN(3)]
	forms := []string{"", "", asTable, asMetadata}
	if h.kind.cbor {
		forms = append(forms, pair.CBOR)
	} else if pair.InProtobuf(g.Version, h.kind.name) {
		forms = append(forms, pair.Protobuf, pair.Protobuf+";as=PartialObjectMetadata;v=v1;g=meta.k8s.io")
	}
	accept := forms[r.IntN(len(forms))]
	start := [...]string{
		"&resourceVersion=0", "", "&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan",
		"&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&resourceVersion=0",
	}[r.IntN(4)]
	fromBefore := r.IntN(2) == 0
	if accept == asTable {
		path += [...]string{"", "&includeObject=Object", "&includeObject=None"}[r.IntN(3)]
	}
	var out []func() any
	for _, s := range servers {
		if fromBefore {
			a, err := s.Send(pair.Request{Method: http.MethodGet, Path: path})
			if err != nil {
				return nil, err
			}
			start = fmt.Sprint("&resourceVersion=", pair.Get(a.Object, "metadata", "resourceVersion"))
		}
		from := path + "&watch=1&timeoutSeconds=1" + start
		out = append(out, func() any {
			events, err := s.Watch(from, accept)
			if err != nil {
				return err.Error()
			}
			return slices.DeleteFunc(events, isChance)
		})
	}
	return out, nil
}

// isChance reports whether an event is a bookmark that comes at some time, and not at the end of the initial events.
func isChance(event any) bool {
	return pair.Get(event, "type") == "BOOKMARK" && !strings.Contains(pair.Text(event), "k8s.io/initial-events-end")
}
