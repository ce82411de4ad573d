package main

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"hash/fnv"
	"log"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/deed-project/deed/oracle/pair"
)

// converters are the conversion webhooks of definitions, paths of one server of the form /KIND. How an object is converted depends on its kind and
// its content alone, so both servers get the same.
type converters struct{ *httptest.Server }

func newConverters() *converters {
	c := &converters{}
	c.Server = httptest.NewUnstartedServer(c)
	c.Config.ErrorLog = log.New(nowhere{}, "", 0)
	c.StartTLS()
	return c
}

// configure gives a definition with several versions a conversion webhook.
func (c *converters) configure(d *definition) {
	if len(d.versions) < 2 {
		return
	}
	m := maker{Rand: rand.New(rand.NewPCG(d.seed, uint64(d.number)))}
	authority := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate().Raw}))
	d.body = with(d.body, map[string]any{"strategy": "Webhook", "webhook": map[string]any{
		"clientConfig":             map[string]any{"url": c.URL + "/" + d.kind, "caBundle": authority},
		"conversionReviewVersions": pick(m, []any{"v1"}, []any{"v1", "v1beta1"}, []any{"v1beta1", "v1"}, []any{"v2", "v1beta1"}),
	}}, "spec", "conversion")
}

// ServeHTTP answers a review.
func (c *converters) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review map[string]any
	d := json.NewDecoder(r.Body)
	d.UseNumber()
	if err := d.Decode(&review); err != nil {
		http.Error(w, fmt.Sprint("no review: ", err), http.StatusBadRequest)
		return
	}
	kind := strings.TrimPrefix(r.URL.Path, "/")
	desired, _ := pair.Get(review, "request", "desiredAPIVersion").(string)
	objects, _ := pair.Get(review, "request", "objects").([]any)
	converted := []any{}
	fault := -1
	for _, o := range objects {
		object := o.(map[string]any)
		hash := fnv.New64a()
		fmt.Fprint(hash, kind, desired, pair.Text(object["spec"]))
		// An object that cannot be read makes a kube-apiserver begin its watch cache anew, again and again: so faults are only in what is stored.
		if n := int(hash.Sum64() % 100); n < 10 && fault < 0 && strings.HasSuffix(desired, "/v1") {
			fault = n
		}
		converted = append(converted, convert(kind, object, desired))
	}
	response := map[string]any{"uid": pair.Get(review, "request", "uid"), "result": map[string]any{"status": "Success"}, "convertedObjects": converted}
	out := map[string]any{"apiVersion": review["apiVersion"], "kind": "ConversionReview", "response": response}
	if fault >= 0 {
		misconvert(fault, out, response, converted)
	}
	if fault == 0 {
		http.Error(w, "gone wrong", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write([]byte(pair.Text(out)))
}

// convert returns an object in another version, as the converter of a kind has it.
func convert(kind string, object map[string]any, desired string) map[string]any {
	hash := fnv.New64a()
	fmt.Fprint(hash, kind)
	out := with(object, desired, "apiVersion")
	version := desired[strings.Index(desired, "/")+1:]
	spec, _ := object["spec"].(map[string]any)
	rename := func(from, to string) {
		if version != "v1" {
			from, to = to, from
		}
		if v, ok := spec[from]; ok {
			spec = maps.Clone(spec)
			delete(spec, from)
			spec[to] = v
			out["spec"] = spec
		}
	}
	switch hash.Sum64() % 8 {
	case 0:
		return with(out, version, "metadata", "labels", "converted")
	case 1:
		return with(out, version, "metadata", "annotations", "converted")
	case 2:
		rename("a", "b")
	case 3:
		rename("a", "renamed")
	case 4:
		if n, ok := spec["replicas"].(json.Number); ok {
			i, _ := n.Int64()
			return with(out, i^1, "spec", "replicas")
		}
	case 5:
		if version != "v1" {
			return without(out, "spec", "a")
		}
		return with(out, 7, "status", "replicas")
	case 6:
		return with(out, map[string]any{"name": pair.Get(object, "metadata", "name"), "labels": map[string]any{"only": "this"}}, "metadata")
	}
	return out
}

// misconvert makes something of an answer wrong.
func misconvert(fault int, out, response map[string]any, converted []any) {
	first := converted[0].(map[string]any)
	switch fault {
	case 1:
		response["result"] = map[string]any{"status": "Failure", "message": "no, <never>"}
	case 2:
		response["result"] = map[string]any{"status": "Failure"}
	case 3:
		response["uid"] = "other"
	case 4:
		response["convertedObjects"] = []any{}
	case 5:
		converted[0] = with(first, "other", "metadata", "name")
	case 6:
		converted[0] = with(first, "example.org/v9", "apiVersion")
	case 7:
		converted[0] = without(first, "metadata")
	case 8:
		converted[0] = with(first, map[string]any{"a b": "c"}, "metadata", "labels")
	case 9:
		delete(out, "response")
	}
}
