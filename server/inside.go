package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
)

// agent is what the server calls itself in requests to itself, and so in managed fields.
const agent = "deed-apiserver"

// Create creates object as a client would, unless it exists. The error is a refusal, or that its kind is not served.
func (s *Server) Create(ctx context.Context, object value.Value) error {
	v, err := s.versionOf(object)
	if err != nil {
		return err
	}
	path := collectionPath(v, object.Get("metadata", "namespace").Str())
	err = s.send(ctx, http.MethodPost, path, object)
	if errors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// PathOf returns the path of an object, which need not exist. Objects of namespaced resources that are in none are in default. It
// is an error if the object's kind is not served.
func (s *Server) PathOf(object value.Value) (string, error) {
	v, err := s.versionOf(object)
	if err != nil {
		return "", err
	}
	metadata := object.Get("metadata")
	return collectionPath(v, metadata.Get("namespace").Str()) + "/" + metadata.Get("name").Str(), nil
}

// versionOf returns the version that serves the kind of an object.
func (s *Server) versionOf(object value.Value) (*catalog.Version, error) {
	gvk := schema.ParseGVK(object.Get("apiVersion").Str(), object.Get("kind").Str())
	for v := range s.catalog.Load().In(gvk.Group, gvk.Version) {
		if v.Kind == gvk.Kind {
			return v, nil
		}
	}
	return nil, fmt.Errorf("%s %s is not served", gvk.APIVersion(), gvk.Kind)
}

// collectionPath returns the path of a collection in a namespace; default, if a namespaced resource is in none.
func collectionPath(v *catalog.Version, namespace string) string {
	path := "/apis/" + v.Group + "/" + v.Name
	if v.Group == "" {
		path = "/api/" + v.Name
	}
	if v.Namespaced {
		if namespace == "" {
			namespace = metav1.NamespaceDefault
		}
		path += "/namespaces/" + namespace
	}
	return path + "/" + v.Plural
}

// send sends a request to the server itself, as a member of system:masters, and returns the Status with which it is refused.
func (s *Server) send(ctx context.Context, method, path string, body value.Value) error {
	var text []byte
	if !body.IsAbsent() {
		text = body.AppendJSON(nil)
	}
	inside := &requestContext{Context: ctx, user: master, deadline: time.Now().Add(s.limits.Write)}
	defer inside.stop()
	r, err := http.NewRequestWithContext(inside, method, path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("User-Agent", agent)
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", string(types.MergePatchType))
	}
	var w recorder
	s.route(&w, r, newCall(r))
	if w.code < http.StatusBadRequest {
		return nil
	}
	var status metav1.Status
	if err := json.Unmarshal(w.body.Bytes(), &status); err != nil {
		return fmt.Errorf("%s %s: %s", method, path, strings.TrimSpace(w.body.String()))
	}
	return &errors.StatusError{ErrStatus: status}
}

// recorder keeps an answer: http.ResponseWriter.
type recorder struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

// Header returns the header of the answer.
func (w *recorder) Header() http.Header {
	if w.header == nil {
		w.header = http.Header{}
	}
	return w.header
}

// WriteHeader sets the status code.
func (w *recorder) WriteHeader(code int) { w.code = code }

// Write adds to the body.
func (w *recorder) Write(b []byte) (int, error) {
	if w.code == 0 {
		w.code = http.StatusOK
	}
	return w.body.Write(b)
}
