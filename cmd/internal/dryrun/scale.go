package dryrun

import (
	"fmt"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// scaling is a write of the replicas of an object, its parent, through the subresource scale. The Scale of the parent is written, and the
// parent gets the replicas and the owners from the outcome.
type scaling struct {
	parent   managedfields.Object
	endpoint *types.Endpoint // the endpoint of the parent
	replicas fieldpath.Path  // the path in the parent
}

// scaleTask returns the task of writing given through the subresource scale. given is a Scale, or an object of a kind with a Scale.
func (w *Workload) scaleTask(given *manifest.Object) *Task {
	endpoint, err := w.types.Scale(w.Config)
	if err != nil {
		w.Problem(given.At("kind"), "%v: %s", given, given.View().Error(err))
		return nil
	}
	find := func() (*manifest.Stored, error) { return w.live.FindAs(given.Id, w.types.Scalable) }
	if !types.IsScale(given.GVK()) {
		find = func() (*manifest.Stored, error) { return w.live.Find(given.Id) }
		e := w.endpointOf(given)
		if e == nil {
			return nil
		}
		given = scaleIn(given, e)
	}
	given, ok := w.identified(given, endpoint)
	if !ok {
		return nil
	}
	at, ok := w.liveOf(given, find)
	if !ok {
		return nil
	}
	if at == nil {
		w.Refuse(given.At(), "%v is not stored, and its scale cannot be written before it is", given)
		return nil
	}
	t := &Task{Given: given, Endpoint: endpoint, at: at, Live: at.Read(w.Loader)}
	if t.Live == nil {
		return nil
	}
	if t.scale = scalingOf(w.Library, w.types, w.Config, t.Live); t.scale == nil {
		return nil
	}
	return t
}

// NewScaleTask returns the task of writing given through the subresource scale of live. given is a Scale, or an object of the kind of live.
// It returns nil, with the reason reported, if live cannot be scaled or its managed fields cannot be read. config is the part that all kinds
// share.
func NewScaleTask(c *types.Library, known *types.Types, config managedfields.Config, given, live *manifest.Object) *Task {
	endpoint, err := known.Scale(config)
	if err != nil {
		c.Problem(given.At("kind"), "%v: %s", given, given.View().Error(err))
		return nil
	}
	t := &Task{Given: given, Live: live, Endpoint: endpoint}
	if t.scale = scalingOf(c, known, config, live); t.scale == nil || !t.readScale(c.Loader) {
		return nil
	}
	if !types.IsScale(given.GVK()) {
		t.Given = scaleIn(given, t.scale.endpoint)
	}
	return t
}

// scaleIn returns given as the Scale that a write of its replicas sends: without a status, and with its replicas only if it has some. e is
// the endpoint of its kind.
func scaleIn(given *manifest.Object, e *types.Endpoint) *manifest.Object {
	path := e.Replicas[given.GVK().APIVersion()]
	if path == nil {
		path = fieldpath.Path{fieldpath.Field("spec"), fieldpath.Field("replicas")}
	}
	out := *given
	out.Content = scaleWith(given.Content, value.Object().With("replicas", manifest.Lookup(given.Content, path)))
	return &out
}

// scalingOf returns the scaling of live, or nil if it cannot be scaled, with the reason reported.
func scalingOf(c *types.Library, known *types.Types, config managedfields.Config, live *manifest.Object) *scaling {
	config.Subresource = ""
	endpoint, err := known.Of(live.GVK(), config)
	if err != nil {
		c.Untyped(live, err)
		return nil
	}
	apiVersion := live.GVK().APIVersion()
	if endpoint.Replicas[apiVersion] == nil {
		c.Problem(live.At("kind"), "%v: %s has no subresource %q", live, live.Id.Kind, types.ScaleName)
		return nil
	}
	return &scaling{parent: live.Object, endpoint: endpoint, replicas: endpoint.Replicas[apiVersion]}
}

// readScale sets the stored object of t to the Scale of the live object. It returns false, with the reason reported, if the managed fields
// cannot be read.
func (t *Task) readScale(c *manifest.Loader) bool {
	stored, err := t.scale.object()
	if err != nil {
		c.Problem(t.Live.Entry(err), "%v: %s", t.Live, t.Live.View().Error(err))
		return false
	}
	t.Stored = stored
	return true
}

// object returns the Scale of the parent. The error is about the managed fields of the parent.
func (s *scaling) object() (managedfields.Object, error) {
	entries, err := managedfields.ScaleEntries(s.parent.Entries, s.endpoint.Replicas)
	return managedfields.Object{Content: scaleOf(s.parent.Content, s.replicas), Entries: entries}, err
}

// scaleOf returns the Scale of a stored object with its replicas at path, without managed fields.
func scaleOf(parent value.Value, path fieldpath.Path) value.Value {
	spec := value.Object()
	if n := manifest.Lookup(parent, path); n.Int() != 0 {
		spec = spec.With("replicas", n)
	}
	status := value.Object(value.Member{Name: "replicas", Value: value.Int(parent.Get("status", "replicas").Int())})
	return scaleWith(parent, spec).With("status", status)
}

// scaleWith returns a Scale with spec and the identity of parent.
func scaleWith(parent, spec value.Value) value.Value {
	metadata := value.Object()
	for _, name := range []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp"} {
		metadata = metadata.With(name, parent.Get("metadata", name))
	}
	gvk := schema.GVK{Group: "autoscaling", Version: "v1", Kind: "Scale"}
	return value.Object(
		value.Member{Name: "apiVersion", Value: value.String(gvk.APIVersion())}, value.Member{Name: "kind", Value: value.String(gvk.Kind)},
		value.Member{Name: "metadata", Value: metadata}, value.Member{Name: "spec", Value: spec},
	)
}

// stored returns the parent after a write of scale.
func (s *scaling) stored(scale managedfields.Object) (managedfields.Object, error) {
	apiVersion := s.parent.GVK().APIVersion()
	entries, err := managedfields.EntriesAfterScale(s.parent.Entries, scale.Entries, apiVersion, s.endpoint.Replicas)
	if err != nil {
		return managedfields.Object{}, err
	}
	live := s.parent.Content
	content := with(live, s.replicas, value.Int(scale.Content.Get("spec", "replicas").Int()))
	if store := managing.Config(s.endpoint.Manager).Store; store != nil {
		change := managedfields.Change{Operation: merge.Update, Live: live, Sent: content, Held: content, Object: content}
		if content, err = store(change); err != nil {
			return managedfields.Object{}, fmt.Errorf("failed to store the scaled object: %w", err)
		}
	}
	return managedfields.Object{Content: content, Entries: entries}, nil
}

// with returns v with member at path, whose elements are all fields.
func with(v value.Value, path fieldpath.Path, member value.Value) value.Value {
	if len(path) == 0 {
		return member
	}
	return v.With(path[0].Name(), with(v.Get(path[0].Name()), path[1:], member))
}

// Scales reports whether t writes a Scale.
func (t *Task) Scales() bool { return t.scale != nil }

// scalesCustom reports whether t writes the Scale of a custom resource, which a server can hardly apply to: see [custom.ChangedScale].
func (t *Task) scalesCustom() bool { return t.scale != nil && t.scale.endpoint.Custom() }

// Before returns the stored object, which is the parent if t writes a Scale.
func (t *Task) Before() managedfields.Object {
	if t.scale != nil {
		return t.scale.parent
	}
	return t.Stored
}

// Type returns the type of the stored object.
func (t *Task) Type() *schema.Type {
	if t.scale != nil {
		return t.scale.endpoint.Typ
	}
	return t.Endpoint.Typ
}

// Written returns the outcome of x, an apply of t, in the form that was written: the Scale or the object itself.
func (t *Task) Written(x Applied) managedfields.Object {
	if t.scale != nil {
		return x.stored
	}
	return x.Outcome
}

// whole returns the stored object for outcome.
func (t *Task) whole(outcome managedfields.Object) (managedfields.Object, error) {
	var err error
	if t.scale != nil {
		outcome, err = t.scale.stored(outcome)
	} else {
		outcome = t.Endpoint.Restore(t.Stored, outcome)
	}
	return managing.KeepTimes(outcome, t.Before()), err
}
