package judge

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/cmd/internal/finding"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/value"
)

// Decide sends a request as a dry run. The error says that the server does not know the kind of the object, or cannot answer.
func (j *Judge) Decide(q finding.Request) (finding.Decision, error) {
	o, method := q.Object, http.MethodPost
	switch q.Operation {
	case "UPDATE":
		method = http.MethodPut
	case "DELETE":
		o, method = q.Old, http.MethodDelete
	}
	content := withoutServers(o.Content)
	path, err := j.server.PathOf(content)
	if err != nil {
		return finding.Decision{}, err
	}
	if method == http.MethodPost {
		path = path[:strings.LastIndexByte(path, '/')]
	}
	header := http.Header{}
	if q.User != "" {
		header.Set("Impersonate-User", q.User)
		header["Impersonate-Group"] = q.Groups
	}
	switch method {
	case http.MethodDelete:
		content = value.Value{}
	case http.MethodPut:
		if content, err = j.ofStored(content, path); err != nil {
			return finding.Decision{}, err
		}
	}
	return decisionOf(o, j.send(method, path+"?"+url.Values{"dryRun": {"All"}}.Encode(), "application/json", content, header))
}

// ofStored returns an object with what a client has read of the stored object at path, so that it can replace that.
func (j *Judge) ofStored(object value.Value, path string) (value.Value, error) {
	stored, err := value.Parse(j.send(http.MethodGet, path, "", value.Value{}, nil).body.Bytes())
	if err != nil {
		return object, err
	}
	metadata := object.Get("metadata")
	for _, name := range []string{"uid", "resourceVersion", "creationTimestamp"} {
		metadata = metadata.With(name, stored.Get("metadata", name))
	}
	return object.With("metadata", metadata), nil
}

// decisionOf reads an answer about o.
func decisionOf(o *manifest.Object, w *recorder) (finding.Decision, error) {
	view := o.View()
	d := finding.Decision{Allowed: w.code < 300}
	for _, text := range warningsOf(w.header) {
		d.Warnings = append(d.Warnings, view.Reason(nil, secret.RawText(text)))
	}
	if !d.Allowed {
		var status metav1.Status
		if err := json.Unmarshal(w.body.Bytes(), &status); err != nil {
			return d, secret.Errorf("the server answers %d", w.code)
		}
		d.Message = view.Reason(nil, secret.RawText(status.Message))
		return d, nil
	}
	var err error
	d.Object, err = value.Parse(w.body.Bytes())
	return d, err
}
