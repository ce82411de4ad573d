// Package loopback sends requests of the server to itself. Controllers change objects through it, so that writes go through admission
// and reach watches like any client's.
package loopback

import (
	"bytes"
	"context"
	"encoding/json"
	stderrors "errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/request"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Agent is the user agent of the server's own requests, and therefore their field manager.
const Agent = "kube-apiserver"

// Client sends requests to the handler behind the filters, which expects a [request.Context]. The user is [auth.System].
type Client struct {
	Handler http.Handler
	Timeout time.Duration // of each request
}

// Send sends a request. A patch is a JSON merge patch. The error is the Status of a refusal.
func (c *Client) Send(ctx context.Context, method, path string, body value.Value) error {
	_, err := c.send(request.As(ctx, auth.System), method, path, string(types.MergePatchType), body)
	return err
}

// Remove deletes the object at path, and does not ask admission. The error is the Status of a refusal.
func (c *Client) Remove(ctx context.Context, path string) error {
	of := request.As(ctx, auth.System)
	of.Unasked = true
	_, err := c.send(of, http.MethodDelete, path, "", value.Value{})
	return err
}

// Get returns what a GET is answered with. The error is the Status of a refusal, or that the answer is no JSON.
func (c *Client) Get(ctx context.Context, path string) (value.Value, error) {
	text, err := c.send(request.As(ctx, auth.System), http.MethodGet, path, "", value.Value{})
	if err != nil {
		return value.Value{}, err
	}
	return value.Parse(text)
}

// Apply applies a configuration with force, for a field manager. The error is the Status of a refusal.
func (c *Client) Apply(ctx context.Context, path, manager string, config value.Value) error {
	query := url.Values{"fieldManager": {manager}, "force": {"true"}}
	_, err := c.send(request.As(ctx, auth.System), http.MethodPatch, path+"?"+query.Encode(), string(types.ApplyYAMLPatchType), config)
	return err
}

// send sends a request, and returns the body of the answer. media is the type of the body of a patch.
func (c *Client) send(of *request.Context, method, path, media string, body value.Value) ([]byte, error) {
	var text []byte
	if !body.IsAbsent() {
		text = body.AppendJSON(nil)
	}
	of.Expires = time.Now().Add(c.Timeout)
	defer of.Stop()
	r, err := http.NewRequestWithContext(of, method, path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	of.Info = request.NewInfo(r)
	r.Header.Set("User-Agent", Agent)
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", media)
	}
	var w recorder
	c.Handler.ServeHTTP(&w, r)
	if w.code < http.StatusBadRequest {
		return w.body.Bytes(), nil
	}
	var status metav1.Status
	if err := json.Unmarshal(w.body.Bytes(), &status); err != nil {
		return nil, fmt.Errorf("%s %s: %s", method, path, strings.TrimSpace(w.body.String()))
	}
	return nil, &errors.StatusError{ErrStatus: status}
}

// IgnoreNotFound returns err, or nil if err says that something does not exist.
func IgnoreNotFound(err error) error {
	if errors.IsNotFound(err) || stderrors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// CollectionPath returns the path of a collection in a namespace. For a namespaced resource, an empty namespace means default.
func CollectionPath(v *catalog.Version, namespace string) string {
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

// recorder is an http.ResponseWriter that keeps the answer.
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
