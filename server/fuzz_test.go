package server_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/manifest"
	"github.com/deed-project/deed/value"
)

// fuzzedPaths are where fuzzed requests go.
var fuzzedPaths = []string{servertest.Things, servertest.Things + "/web", servertest.Things + "/web/status", servertest.Things + "/web/scale", servertest.Core + "namespaces/default/configmaps/web",
	servertest.Core + "namespaces/default/pods", "/apis/apps/v1/namespaces/default/deployments/web",
	"/apis/apiextensions.k8s.io/v1/customresourcedefinitions"}

var fuzzedMethods = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}

var fuzzedTypes = []string{"application/json", "application/yaml", "application/merge-patch+json", "application/json-patch+json",
	"application/strategic-merge-patch+json", "application/apply-patch+yaml", "application/vnd.kubernetes.protobuf"}

// FuzzRequest sends requests with any query and body. None panics, and every answer in JSON is one document; a dry run stores nothing.
func FuzzRequest(f *testing.F) {
	for i := range fuzzedMethods {
		f.Add(byte(i), byte(i), byte(0), "", servertest.Web)
	}
	for _, query := range []string{
		"labelSelector=a%20in%20(b,c),!d", "fieldSelector=metadata.name%3Dweb", "limit=1&continue=x", "resourceVersion=1&resourceVersionMatch=Exact",
		"fieldManager=a&force=true&fieldValidation=Strict", "watch=1&timeoutSeconds=1", "dryRun=All&pretty=1", "gracePeriodSeconds=-1",
	} {
		f.Add(byte(0), byte(0), byte(0), query, "")
		f.Add(byte(1), byte(3), byte(5), query, servertest.Web)
	}
	for i, body := range []string{
		`{"spec":{"color":null}}`, `[{"op":"move","from":"/spec","path":"/status"},{"op":"test","path":"/a/-","value":[]}]`,
		`{"spec":{"$patch":"replace"},"$retainKeys":["a"],"$deleteFromPrimitiveList/x":["y"]}`, "spec: {replicas: 3}\n",
		`{"metadata":{"managedFields":[{}]}}`,
	} {
		for path := range fuzzedPaths {
			f.Add(byte(3), byte(path), byte(i+2), "fieldManager=a", body)
		}
	}
	var log bytes.Buffer
	s, err := server.New(server.Config{Log: slog.New(slog.NewTextHandler(&log, nil)), Objects: fuzzedObjects(f)})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := s.Close(); err != nil {
			f.Error(err)
		}
	})
	f.Fuzz(func(t *testing.T, method, path, typ byte, query, body string) {
		values, err := url.ParseQuery(query)
		if err != nil || values.Has("watch") {
			return
		}
		values.Set("dryRun", "All") // so that each finds what the first one found
		target := fuzzedPaths[int(path)%len(fuzzedPaths)] + "?" + values.Encode()
		r := httptest.NewRequest(fuzzedMethods[int(method)%len(fuzzedMethods)], target, strings.NewReader(body))
		r.Header.Set("Content-Type", fuzzedTypes[int(typ)%len(fuzzedTypes)])
		w := httptest.NewRecorder()
		log.Reset()
		func() {
			defer func() {
				if v := recover(); v != nil && v != http.ErrAbortHandler { // which ends the connection
					panic(v)
				}
			}()
			s.ServeHTTP(w, r)
		}()
		if strings.Contains(log.String(), "panic") {
			t.Fatalf("%s %s\n%s", r.Method, target, log.String())
		}
		if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s %s: %d %q", r.Method, target, w.Code, w.Body)
		}
	})
}

// fuzzedObjects are the objects of a fuzzed server.
func fuzzedObjects(f *testing.F) []value.Value {
	f.Helper()
	text, err := os.ReadFile("apitest/testdata/widgets.yaml")
	if err != nil {
		f.Fatal(err)
	}
	var out []value.Value
	for _, document := range []string{
		string(text), servertest.Web[:len(servertest.Web)-1] + `,"status":{"replicas":1}}`,
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web","namespace":"default"},"data":{"a":"b"}}`,
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"default"},"spec":{"selector":{"matchLabels":{"a":"b"}},` +
			`"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`,
	} {
		objects, err := manifest.Parse("", []byte(document))
		if err != nil {
			f.Fatal(err)
		}
		out = append(out, manifest.Values(objects)...)
	}
	return out
}
