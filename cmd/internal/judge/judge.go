// Package judge asks an API server in the process what it refuses: deed-apiserver, with a store in memory that is gone afterwards.
//
// So the answer has everything that a server checks: keywords and CEL rules of definitions, rules of built-in kinds, names, and admission
// policies. Each object is a dry run, so that objects do not depend on each other. What a server refuses because its cluster lacks another
// object does not count: every namespace exists, and every priority class.
//
// The server emulates the release of Kubernetes that is selected. Of releases before the first one that it can emulate, it has the fields and
// versions of that one; the schemas of the release itself are checked beside it.
package judge

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/finding"
	"github.com/deed-project/deed/cmd/internal/jobs"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/value"
)

// Judge is a server that judges objects. It is safe for concurrent use.
type Judge struct {
	server *server.Server
	stored map[manifest.ID]bool
	custom map[manifest.ID]bool // the groups and kinds of the definitions
}

// New returns a judge. Objects of c that the server refuses go to c.Refused. The error is about the server.
func New(c finding.ServerConfig) (finding.Server, error) {
	emulated := ""
	if c.Minor != 0 {
		emulated = fmt.Sprintf("1.%d", max(c.Minor, builtin.FirstEmulated))
	}
	s, err := server.New(server.Config{
		EmulatedVersion: emulated,
		Log:             slog.New(slog.DiscardHandler), Controllers: []string{}, Now: c.Now,
		DisableAdmissionPlugins: []string{"Priority"}, Transient: true,
		Services: server.Services{Families: []string{"IPv4", "IPv6"}}, // only the cluster knows which of them it has
	})
	if err != nil {
		return nil, err
	}
	j := &Judge{server: s, stored: map[manifest.ID]bool{}, custom: map[manifest.ID]bool{}}
	ctx := context.Background()
	refused := func(o *manifest.Object, err error) {
		if err != nil {
			c.Refused(o, err)
		}
	}
	for _, o := range c.Definitions {
		spec := o.Content.Get("spec")
		j.custom[manifest.ID{Group: spec.Get("group").Str(), Kind: spec.Get("names", "kind").Str()}] = true
	}
	// Some at a time, because most of the work is to compile their schemas.
	for o, err := range jobs.Map(0, slices.Values(c.Definitions), func(o *manifest.Object) error {
		return s.Create(ctx, unconverted(o.Content))
	}) {
		refused(o, err)
	}
	for name, labels := range namespacesOf(c) {
		if err := s.Restore(ctx, namespace(name, labels)); err != nil {
			return nil, err
		}
	}
	for _, o := range slices.Concat(c.Live, c.Params) {
		v, err := o.Value()
		if err == nil {
			err = s.Restore(ctx, v)
		}
		refused(o, err)
		j.stored[o.Id] = true
	}
	for _, o := range c.Policies {
		refused(o, s.Create(ctx, o.Content))
	}
	return j, nil
}

// Close stops the server.
func (j *Judge) Close() error { return j.server.Close() }

// unconverted returns a definition without its conversion webhook, which cannot be reached. Its versions then differ in their names alone.
func unconverted(definition value.Value) value.Value {
	spec := definition.Get("spec")
	if spec.Get("conversion", "strategy").Str() != "Webhook" {
		return definition
	}
	return definition.With("spec", spec.With("conversion", value.Value{}))
}

// namespacesOf returns the labels of the namespaces that c names.
func namespacesOf(c finding.ServerConfig) map[string]value.Value {
	out := map[string]value.Value{}
	for _, name := range c.In {
		out[name] = value.Value{}
	}
	for _, o := range slices.Concat(c.Live, c.Params) {
		if o.Id.Namespace != "" {
			out[o.Id.Namespace] = value.Value{}
		}
	}
	for _, o := range c.Namespaces {
		out[o.Id.Name] = o.Content.Get("metadata", "labels")
	}
	return out
}

// namespace returns a namespace as a server has stored it.
func namespace(name string, labels value.Value) value.Value {
	if labels.Kind() != value.KindObject {
		labels = value.Object()
	}
	text := func(s string) value.Value { return value.String(s) }
	metadata := value.Object().With("name", text(name)).With("labels", labels.With("kubernetes.io/metadata.name", text(name)))
	spec := value.Object().With("finalizers", value.List(text("kubernetes")))
	return value.Object().With("apiVersion", text("v1")).With("kind", text("Namespace")).With("metadata", metadata).
		With("spec", spec).With("status", value.Object().With("phase", text("Active")))
}

// Judge sends o as a dry run: an apply with force if the server has stored it, and else a create. Fields that occur twice do not count: they are
// known already, and so are unknown fields, except for those in objects of custom resources whose schema has no fields.
func (j *Judge) Judge(o *manifest.Object, e *types.Endpoint, found []finding.Defect) finding.Verdict {
	content := withoutServers(o.Content)
	path, err := j.server.PathOf(content)
	if err != nil {
		return finding.Verdict{Unserved: true}
	}
	method, media := http.MethodPost, "application/json"
	query := url.Values{"dryRun": {"All"}, "fieldValidation": {"Ignore"}}
	if j.custom[manifest.ID{Group: o.Id.Group, Kind: o.Id.Kind}] {
		query.Set("fieldValidation", "Warn")
	}
	if j.stored[o.Id] {
		method, media = http.MethodPatch, "application/apply-patch+yaml"
		query.Set("force", "true")
		query.Set("fieldManager", "kubectl")
	} else {
		path = path[:strings.LastIndexByte(path, '/')]
	}
	v := newVerdict(o, e, found)
	v.read(j.send(method, path+"?"+query.Encode(), media, content, nil))
	return v.Verdict
}

// send sends a request with content, which may be absent, and returns the answer.
func (j *Judge) send(method, target, media string, content value.Value, header http.Header) *recorder {
	w := &recorder{header: http.Header{}}
	var body []byte
	if !content.IsAbsent() {
		body = content.AppendJSON(nil)
	}
	r, err := http.NewRequest(method, target, bytes.NewReader(body))
	if err != nil { // a name that no path can have
		w.code = http.StatusBadRequest
		return w
	}
	r.RequestURI, r.RemoteAddr, r.Host = target, "127.0.0.1:0", "localhost"
	maps.Copy(r.Header, header)
	r.Header.Set("Content-Type", media)
	r.Header.Set("Accept", "application/json")
	j.server.ServeHTTP(w, r)
	return w
}

// servers are the members of metadata that only a server writes. A file has them if it comes from a server.
var servers = []string{
	"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields", "selfLink",
}

// withoutServers returns an object without what only servers write.
func withoutServers(object value.Value) value.Value {
	metadata := object.Get("metadata")
	for _, name := range servers {
		metadata = metadata.With(name, value.Value{})
	}
	return object.With("metadata", metadata)
}

// recorder keeps an answer.
type recorder struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

// Header implements [http.ResponseWriter].
func (w *recorder) Header() http.Header { return w.header }

// WriteHeader implements [http.ResponseWriter].
func (w *recorder) WriteHeader(code int) {
	if w.code == 0 {
		w.code = code
	}
}

// Write implements [http.ResponseWriter].
func (w *recorder) Write(data []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(data)
}
