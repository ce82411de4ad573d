// Package components answers requests for the virtual resource componentstatuses: the health of the parts of a control plane.
package components

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Resource is the resource componentstatuses.
var Resource = kschema.GroupResource{Resource: "componentstatuses"}

// names lists the components in the order of lists.
var names = []string{"controller-manager", "etcd-0", "scheduler"}

// timeout is how long a component may take to answer.
const timeout = 20 * time.Second

// Get answers with the status of a component. The error is a 404 for an unknown name.
func Get(s store.Store, q *rest.Request) (*rest.Answer, error) {
	for _, name := range names {
		if name == q.ObjectName {
			return rest.NewAnswer(http.StatusOK, managedfields.Object{Content: status(q.Context(), s, q.Version, name)}), nil
		}
	}
	return nil, errors.NewNotFound(kschema.GroupResource{Resource: q.Version.Singular}, q.ObjectName)
}

// List answers with the statuses of the components that the selectors of the request match.
func List(s store.Store, q *rest.Request) (*rest.Answer, error) {
	options, err := api.ParseListOptions(q.Query)
	if err != nil {
		return nil, err
	}
	all := make([]value.Value, 0, len(names))
	for _, name := range names {
		all = append(all, status(q.Context(), s, q.Version, name))
	}
	items, err := read.Select(q.Version, options, all)
	if err != nil {
		return nil, err
	}
	return &rest.Answer{Code: http.StatusOK, List: &rest.List{Items: items}, Converted: true}, nil
}

// status asks a component and returns its status.
func status(ctx context.Context, s store.Store, v *catalog.Version, name string) value.Value {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	healthy, message, problem := false, "", ""
	switch name {
	case "controller-manager":
		healthy, message = probe(ctx, 10257)
	case "scheduler":
		healthy, message = probe(ctx, 10259)
	default:
		if _, err := registry.IsEmpty(ctx, s, "/registry/"); err != nil {
			problem = err.Error()
		} else {
			healthy, message = true, "ok"
		}
	}
	condition := value.Object(
		value.Member{Name: "type", Value: value.String("Healthy")},
		value.Member{Name: "status", Value: value.String(map[bool]string{true: "True", false: "False"}[healthy])},
	)
	for _, text := range []value.Member{{Name: "message", Value: value.String(message)}, {Name: "error", Value: value.String(problem)}} {
		if text.Value.Str() != "" {
			condition = condition.With(text.Name, text.Value)
		}
	}
	return value.Object(
		value.Member{Name: "apiVersion", Value: value.String(v.APIVersion())},
		value.Member{Name: "kind", Value: value.String(v.Kind)},
		value.Member{Name: "metadata", Value: value.Object(value.Member{Name: "name", Value: value.String(name)})},
		value.Member{Name: "conditions", Value: value.List(condition)},
	)
}

// client asks components on this machine. They sign their certificates themselves.
var client = http.Client{Transport: &http.Transport{
	DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // only the health is read
}}

// longest is the number of bytes that are read of an answer.
const longest = 10 << 10

// probe asks the health check of a component at a port of this machine. It returns the answer, or why there is none.
func probe(ctx context.Context, port int) (healthy bool, message string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d/healthz", port), nil)
	if err != nil {
		return false, err.Error()
	}
	response, err := client.Do(request)
	if err != nil {
		return false, err.Error()
	}
	defer response.Body.Close() // it was only read
	text, err := io.ReadAll(io.LimitReader(response.Body, longest))
	switch {
	case err != nil:
		return false, err.Error()
	case response.StatusCode >= http.StatusBadRequest:
		return false, fmt.Sprintf("HTTP probe failed with statuscode: %d", response.StatusCode)
	}
	return true, string(text)
}
