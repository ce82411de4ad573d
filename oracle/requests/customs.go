package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"net/http"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/deed-project/deed/oracle/pair"
)

// definitions are the custom resources that requests are about.
//
//go:embed definitions.yaml
var definitions []byte

const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// customs defines the custom resources on both servers, and returns a collection for each version of each of them.
func (c *campaign) customs() ([]collection, error) {
	for _, document := range bytes.Split(definitions, []byte("\n---\n")) {
		var definition map[string]any
		if err := yaml.UnmarshalStrict(document, &definition); err != nil {
			return nil, err
		}
		if err := c.both(pair.Request{Method: http.MethodPost, Path: definitionsPath, Body: definition}, http.StatusCreated, http.StatusConflict); err != nil {
			return nil, err
		}
	}
	var out []collection
	for _, of := range [...]struct{ version, kind string }{
		{"requests.example.org/v1", "Engine"}, {"requests.example.org/v1alpha1", "Engine"}, {"requests.example.org/v1", "Track"},
	} {
		if _, err := served(c.deed.Server, of.version, of.kind); err != nil {
			return nil, err
		}
		g, err := served(c.real.Server, of.version, of.kind)
		if err != nil {
			return nil, err
		}
		object := map[string]any{"apiVersion": of.version, "kind": of.kind, "metadata": map[string]any{}}
		if of.kind == "Engine" {
			object["spec"] = map[string]any{"replicas": 2, "parts": []any{map[string]any{"name": "a"}}, "free": map[string]any{"x": 1.5}}
		}
		out = append(out, collection{group: g, kind: of.kind, base: &pair.Base{Kind: of.kind, Object: object}})
	}
	return out, nil
}

// patience is how long a server may take to serve a definition.
const patience = 20 * time.Second

// served waits until a server serves a kind, and has published its schema.
func served(s *pair.Server, version, kind string) (*pair.Group, error) {
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		g, err := pair.NewDiscovery(s).Group(version)
		if err == nil && g.Resources[kind] != "" {
			a, err := s.Send(pair.Request{Method: http.MethodGet, Path: g.Collection(kind, namespaces[0])})
			if err == nil && a.Code == http.StatusOK {
				return g, nil
			}
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("%v does not serve %s in %s: %w", s, kind, version, err)
		}
	}
}
