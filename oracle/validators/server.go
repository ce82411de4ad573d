package main

import (
	"bytes"
	"crypto/tls"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/value"
)

// peer is a kube-apiserver.
type peer struct {
	client *http.Client
	base   string
	kinds  map[schema.GVK]resource
}

// resource is where the objects of a kind are.
type resource struct {
	path       string
	namespaced bool
}

func connect(base string) *peer {
	p := &peer{base: base, kinds: map[schema.GVK]resource{}}
	p.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for k := range builtin.Kinds() {
		if k.Served == builtin.ServedByDefault {
			p.kinds[k.GVK] = resource{k.Resource, k.Namespaced}
		}
	}
	return p
}

// send sends a request, and returns the code and the body of the answer.
func (p *peer) send(method, path, media string, body value.Value) (int, []byte) {
	var text io.Reader
	if !body.IsAbsent() {
		text = bytes.NewReader(body.AppendJSON(nil))
	}
	r := must(http.NewRequest(method, p.base+path, text))
	r.Header.Set("Content-Type", media)
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Authorization", "Bearer tok")
	answer := must(p.client.Do(r))
	defer answer.Body.Close()
	return answer.StatusCode, must(io.ReadAll(answer.Body))
}

const (
	asJSON  = "application/json"
	asApply = "application/apply-patch+yaml"
)

// define creates the definitions among objects, and writes those that the server takes to dir.
func (p *peer) define(objects []value.Value, dir string) {
	seen := map[string]bool{}
	for _, o := range objects {
		name, spec := o.Get("metadata", "name").Str(), o.Get("spec")
		if o.Get("kind").Str() != "CustomResourceDefinition" || o.Get("apiVersion").Str() != "apiextensions.k8s.io/v1" || seen[name] {
			continue
		}
		if spec.Get("conversion", "strategy").Str() == "Webhook" { // it cannot be called
			o = o.With("spec", spec.With("conversion", value.Value{}))
		}
		path := "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + name + "?force=true&fieldManager=validators"
		if code, _ := p.send(http.MethodPatch, path, asApply, o); code > 299 {
			continue
		}
		seen[name] = true
		write(filepath.Join(dir, name+".yaml"), o.AppendJSON(nil))
		for v := range spec.Get("versions").Items() {
			if v.Get("served").Bool() {
				gvk := schema.GVK{Group: spec.Get("group").Str(), Version: v.Get("name").Str(), Kind: spec.Get("names", "kind").Str()}
				p.kinds[gvk] = resource{spec.Get("names", "plural").Str(), spec.Get("scope").Str() == "Namespaced"}
			}
		}
	}
	log.Printf("%d definitions", len(seen))
}

// samples returns up to n of the objects, spread over all, each with an edited copy behind it, and the answers of the server.
func (p *peer) samples(objects []value.Value, n int, seed uint64) (out []*sample) {
	r := rand.New(rand.NewPCG(seed, 1))
	var usable []value.Value
	for _, o := range objects {
		gvk := schema.ParseGVK(o.Get("apiVersion").Str(), o.Get("kind").Str())
		if _, known := p.kinds[gvk]; known && o.Get("metadata", "name").Str() != "" && !strings.HasSuffix(gvk.Kind, "Review") && gvk.Kind != "Namespace" {
			usable = append(usable, withoutServers(o))
		}
	}
	log.Printf("%d manifests of kinds that the server has", len(usable))
	r.Shuffle(len(usable), func(i, j int) { usable[i], usable[j] = usable[j], usable[i] })
	kept, depend := 0, 0
	for _, o := range usable {
		if kept == n {
			break
		}
		s := &sample{object: o}
		if !p.ask(s) {
			depend++
			continue
		}
		kept++
		out = append(out, s)
		e := &sample{}
		if e.object, e.edit = edited(r, o); p.ask(e) {
			out = append(out, e)
		}
	}
	log.Printf("%d manifests, and %d whose answer depends on other objects", kept, depend)
	return out
}

// withoutServers returns an object without what only servers write.
func withoutServers(o value.Value) value.Value {
	metadata := o.Get("metadata")
	for _, name := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "managedFields", "selfLink"} {
		metadata = metadata.With(name, value.Value{})
	}
	return o.With("metadata", metadata)
}

// namespaces are those that exist.
var namespaces = map[string]bool{}

// ask sends s as a dry run of a create, and then of an apply. It returns false if the answer depends on other objects.
func (p *peer) ask(s *sample) bool {
	gvk := schema.ParseGVK(s.object.Get("apiVersion").Str(), s.object.Get("kind").Str())
	kind := p.kinds[gvk]
	path := "/apis/" + gvk.APIVersion()
	if gvk.Group == "" {
		path = "/api/v1"
	}
	if kind.namespaced {
		namespace := s.object.Get("metadata", "namespace").Str()
		if namespace == "" {
			namespace = "default"
		}
		if !namespaces[namespace] {
			object := value.Object().With("apiVersion", value.String("v1")).With("kind", value.String("Namespace")).
				With("metadata", value.Object().With("name", value.String(namespace)))
			p.send(http.MethodPost, "/api/v1/namespaces", asJSON, object) // a name that no namespace can have is refused below
			namespaces[namespace] = true
		}
		path += "/namespaces/" + namespace
	}
	code, body := p.send(http.MethodPost, path+"/"+kind.path+"?dryRun=All&fieldValidation=Strict", asJSON, s.object)
	if code < 300 { // an apply refuses more: values of a wrong type that a decoder takes, and items that occur twice
		at := path + "/" + kind.path + "/" + s.object.Get("metadata", "name").Str() + "?dryRun=All&force=true&fieldManager=validators&fieldValidation=Strict"
		if as, refusal := p.send(http.MethodPatch, at, asApply, s.object); as == http.StatusBadRequest || as == http.StatusInternalServerError {
			s.answer, s.refused = must(value.Parse(refusal)), true
			return true
		}
	}
	var err error
	if s.answer, err = value.Parse(body); err != nil {
		return false // a path that is not served
	}
	s.refused = code > 299
	switch code {
	case http.StatusConflict: // it exists, and is valid
		s.refused = false
	case http.StatusNotFound, http.StatusForbidden, http.StatusInternalServerError:
		return false
	}
	return !strings.Contains(s.answer.Get("message").Str(), "failed to allocate") // addresses and ports of services
}
