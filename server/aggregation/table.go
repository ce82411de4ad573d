package aggregation

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"iter"
	"slices"
	"strings"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// service is a stored APIService. It does not change.
type service struct {
	name                           string
	gv                             kschema.GroupVersion
	groupPriority, versionPriority int64
	managed                        string      // how the server keeps it: onStart, always, or "" if it does not
	content                        value.Value // as it is stored, without managed fields; absent if text has it
	text                           []byte      // as it is stored; nil if content is set
	revision                       store.Revision
	available                      value.Value // the condition Available, absent if there is none or content is absent
	isLocal                        bool        // the condition says that the server itself has the version
	remote                         *remote     // nil for a local one
}

// object returns the APIService as it is stored, without managed fields.
func (s *service) object() value.Value {
	if s.text == nil {
		return s.content
	}
	stored, err := managedfields.ParseObject(s.text)
	if err != nil {
		panic(err) // the server itself wrote it
	}
	return stored.Content
}

// newService reads a stored APIService. Its remote is not set.
func newService(record store.Record) (*service, error) {
	stored, err := managedfields.ParseObject(record.Text)
	if err != nil {
		return nil, err
	}
	spec := stored.Content.Get("spec")
	s := &service{
		name: api.Meta(stored.Content, "name"), content: stored.Content, revision: record.Revision,
		managed:       stored.Content.Get("metadata", "labels").Get(managedLabel).Str(),
		gv:            kschema.GroupVersion{Group: spec.Get("group").Str(), Version: spec.Get("version").Str()},
		groupPriority: spec.Get("groupPriorityMinimum").Int(), versionPriority: spec.Get("versionPriority").Int(),
	}
	for c := range stored.Content.Get("status", "conditions").Items() {
		if c.Get("type").Str() == "Available" {
			s.available = c
			break
		}
	}
	s.isLocal = s.isAvailable() && s.available.Get("reason").Str() == localReason
	return s, nil
}

// isAvailable reports whether requests for a remote APIService are sent on.
func (s *service) isAvailable() bool { return s.available.Get("status").Str() == "True" }

// backend is what a remote APIService says of its server. It is comparable.
type backend struct {
	namespace, name string
	port            int32
	bundle          string // in PEM
	insecure        bool
}

// backendOf returns the backend in the spec of an APIService, and whether there is one.
func backendOf(spec value.Value) (backend, bool) {
	service := spec.Get("service")
	if service.IsAbsent() || service.IsNull() {
		return backend{}, false
	}
	bundle, err := base64.StdEncoding.DecodeString(spec.Get("caBundle").Str())
	if err != nil {
		bundle = nil // cannot be: the object was decoded before it was stored
	}
	return backend{
		service.Get("namespace").Str(), service.Get("name").Str(), int32(service.Get("port").Int()), string(bundle),
		spec.Get("insecureSkipTLSVerify").Bool(),
	}, true
}

// table has the stored APIServices as they were read last. The zero table has read nothing. It is not safe for concurrent use.
type table struct {
	at      store.Revision      // up to which the store was read
	of      map[string]*service // by key
	ordered []catalog.Group     // what groups returns; nil if an APIService changed since
}

// read reads what was stored since it was called last, and returns the APIServices that were written or deleted. connect makes the remote of
// an APIService, which is kept as long as the backend stays.
func (t *table) read(ctx context.Context, s store.Store, prefix string, connect func(kschema.GroupVersion, backend) *remote) ([]*service, error) {
	batch, err := store.Changes(ctx, s, prefix, t.at, t.known())
	if err != nil {
		return nil, err
	}
	var changed []*service
	var errs []error
	for _, e := range batch.Events {
		was := t.of[e.Key]
		if was != nil && was.revision == e.Revision {
			continue
		}
		if e.Deleted {
			if was != nil {
				was.remote.close()
				delete(t.of, e.Key)
				changed = append(changed, was)
			}
			continue
		}
		is, err := newService(e.Record)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if of, remotely := backendOf(is.content.Get("spec")); remotely {
			is.remote = connect(is.gv, of)
			if was != nil && was.remote != nil && was.remote.backend == of && was.gv == is.gv {
				is.remote = was.remote
			}
		}
		if was != nil && was.remote != is.remote {
			was.remote.close()
		}
		t.add(e.Key, is)
		changed = append(changed, is)
	}
	if len(changed) > 0 {
		t.ordered = nil
	}
	t.at = batch.Revision
	return changed, errors.Join(errs...)
}

// add adds or replaces an APIService.
func (t *table) add(key string, s *service) {
	if t.of == nil {
		t.of = map[string]*service{}
	}
	t.of[key], t.ordered = s, nil
}

// known yields the keys of the APIServices with their revisions.
func (t *table) known() iter.Seq2[string, store.Revision] {
	return func(yield func(string, store.Revision) bool) {
		for key, s := range t.of {
			if !yield(key, s.revision) {
				return
			}
		}
	}
}

// named returns an APIService, nil if there is none.
func (t *table) named(prefix string, gv kschema.GroupVersion) *service {
	return t.of[prefix+nameOf(gv)]
}

// remotes returns the remote APIServices, nil if there are none.
func (t *table) remotes() *map[kschema.GroupVersion]*service {
	var out map[kschema.GroupVersion]*service
	for _, s := range t.of {
		if s.remote == nil {
			continue
		}
		if out == nil {
			out = map[kschema.GroupVersion]*service{}
		}
		out[s.gv] = s
	}
	if out == nil {
		return nil
	}
	return &out
}

// groups returns the groups of all APIServices but that of the core group. A group stands where its first APIService stands.
func (t *table) groups() []catalog.Group {
	if t.ordered != nil {
		return t.ordered
	}
	all := make([]*service, 0, len(t.of))
	for _, s := range t.of {
		if s.gv.Group != "" {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *service) int {
		return cmp.Or(cmp.Compare(b.groupPriority, a.groupPriority), cmp.Compare(a.name, b.name))
	})
	of := map[string][]*service{}
	t.ordered = []catalog.Group{}
	for _, s := range all {
		if of[s.gv.Group] == nil {
			t.ordered = append(t.ordered, catalog.Group{Name: s.gv.Group})
		}
		of[s.gv.Group] = append(of[s.gv.Group], s)
	}
	for i, g := range t.ordered {
		slices.SortFunc(of[g.Name], byVersion)
		for _, s := range of[g.Name] {
			t.ordered[i].Versions = append(t.ordered[i].Versions, s.gv.Version)
		}
	}
	return t.ordered
}

// byVersion orders the APIServices of a group by priority, then by version.
func byVersion(a, b *service) int {
	return cmp.Or(cmp.Compare(b.versionPriority, a.versionPriority), version.CompareKubeAwareVersionStrings(b.gv.Version, a.gv.Version))
}

// nameOf returns the name of the APIService of a group version.
func nameOf(gv kschema.GroupVersion) string { return gv.Version + "." + gv.Group }

// versionOf returns the group version that a path is about. All of /api counts as v1 of the core group.
func versionOf(path string) kschema.GroupVersion {
	root, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if root == "api" {
		return kschema.GroupVersion{Version: "v1"}
	}
	if root != "apis" {
		return kschema.GroupVersion{}
	}
	group, rest, _ := strings.Cut(rest, "/")
	of, _, _ := strings.Cut(rest, "/")
	return kschema.GroupVersion{Group: group, Version: of}
}
