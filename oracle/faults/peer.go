package main

import (
	"fmt"
	"net/http"

	"github.com/deed-project/deed/oracle/pair"
)

// peer is a server with the base objects that it has stored.
type peer struct {
	*pair.Server
	live map[string]map[string]any // by the IDs of the base objects
}

func newPeer(url string) *peer { return &peer{pair.NewServer(url), map[string]map[string]any{}} }

// send sends a request with a body, if any, in JSON.
func (p *peer) send(method, path string, body any) (pair.Answer, error) {
	return p.Send(pair.Request{Method: method, Path: path, Body: body, UserAgent: "faults/1"})
}

// install creates a base object, gives it its status, and keeps what is stored. An object of an earlier run is used again.
func (p *peer) install(b *pair.Base) (pair.Answer, error) {
	a, err := p.send(http.MethodPost, b.Path+"?fieldManager=faults", b.Object)
	if a.Code >= 400 { // a Service may have its ports already, so that it is no conflict
		if stored, err := p.read(b); err == nil && stored.Code == http.StatusOK {
			return stored, nil
		}
		return a, err
	}
	if err != nil || a.Code != http.StatusCreated {
		return a, err
	}
	live := a.Object
	if status := b.Object["status"]; status != nil {
		path := fmt.Sprintf("%s/%s/status?fieldManager=faults", b.Path, pair.Get(live, "metadata", "name"))
		if a, err = p.send(http.MethodPut, path, pair.Put(live, []any{"status"}, pair.Edit{Value: status})); err != nil || a.Code != http.StatusOK {
			return a, err
		}
		live = a.Object
	}
	p.keep(b, live)
	return a, nil
}

// read reads what is stored of a base object, and keeps it.
func (p *peer) read(b *pair.Base) (pair.Answer, error) {
	a, err := p.send(http.MethodGet, fmt.Sprintf("%s/%s", b.Path, pair.Get(b.Object, "metadata", "name")), nil)
	if err == nil && a.Code == http.StatusOK {
		p.keep(b, a.Object)
	}
	return a, err
}

// keep keeps what is stored of a base object.
func (p *peer) keep(b *pair.Base, live map[string]any) {
	p.live[b.ID] = pair.Put(live, []any{"metadata", "managedFields"}, pair.Edit{Remove: true}).(map[string]any)
}
