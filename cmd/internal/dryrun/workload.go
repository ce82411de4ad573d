// Package dryrun computes what a write does to one object, without storing it. A [Task] is an object with its target, [Force] decides its
// conflicts, and the outcome goes to printers and files. The package produces no text for users except the reasons for refusals.
package dryrun

import (
	"bytes"
	"iter"
	"maps"
	"slices"

	"github.com/deed-project/deed/cmd/internal/jobs"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/managedfields"
)

// Workload is the sequence of objects of a command, each with the live object to write to.
type Workload struct {
	*types.Library
	types  *types.Types
	live   *manifest.Live
	Config managedfields.Config // the part that all kinds share
	// Namespace is the namespace of objects without one; empty if unknown. Name is the name of a single object without one.
	Namespace, Name string

	// Given counts the objects so far, also those that could not be processed.
	Given int

	given    iter.Seq[*manifest.Object]
	applied  map[manifest.ID]notice.Position // the objects so far
	managers map[string]bool                 // the managers of live objects so far
	// untracked is set after the warning about missing managed fields.
	untracked bool
	target    map[*manifest.Stored]notice.Position // the objects that are written to live objects
}

// Task is an object with the live object to write to.
type Task struct {
	Given    *manifest.Object
	Live     *manifest.Object     // nil if nothing is stored
	Stored   managedfields.Object // the content of Live, the zero Object if nothing is stored
	Endpoint *types.Endpoint

	at    *manifest.Stored // the place of Live; nil if nothing is stored
	scale *scaling         // nil unless Given and Stored are the Scale of Live
}

// NewWorkload returns a workload that writes given to the objects in live. config is the part that all kinds share.
func NewWorkload(
	c *types.Library, types *types.Types, config managedfields.Config, given iter.Seq[*manifest.Object], live *manifest.Live,
) *Workload {
	types.Served = true
	return &Workload{
		Library: c, types: types, live: live, Config: config, given: given,
		managers: map[string]bool{}, applied: map[manifest.ID]notice.Position{}, target: map[*manifest.Stored]notice.Position{},
	}
}

// Each calls work for each task, several concurrently, and calls use with the results in order. It reports objects that cannot be
// processed. At any time only a few objects are in memory: each is read, processed, used and released.
func Each[T any](w *Workload, what string, configs bool, work func(*Task) T, use func(*Task, T)) {
	type done struct {
		log *notice.Log // the problems of the task
		ok  bool
		out T
	}
	tasks := func(yield func(*Task) bool) {
		for given := range w.given {
			w.Given++
			if t := w.task(given, configs); t != nil && !yield(t) {
				return
			}
		}
	}
	tick, end := w.Progress(what)
	for t, x := range jobs.Map(w.Jobs, tasks, func(t *Task) done {
		x := done{log: notice.NewLog(new(bytes.Buffer), nil)}
		if x.ok = t.read(w.With(x.log)); x.ok {
			x.out = work(t)
		}
		return x
	}) {
		if w.Join(x.log); x.ok {
			w.warnOfVersion(t)
			w.warnUntracked(t)
			for _, e := range t.Stored.Entries {
				w.managers[e.Manager] = true
			}
			use(t, x.out)
		}
		tick()
	}
	end()
}

// Managers returns the names of the managers of the processed live objects, sorted.
func (w *Workload) Managers() []string { return slices.Sorted(maps.Keys(w.managers)) }

// warnOfVersion warns of an object in a version that is deprecated, or that not all servers serve.
func (w *Workload) warnOfVersion(t *Task) {
	for _, warning := range t.Endpoint.Warnings() {
		w.Warn(t.Given.At(), "%v: %s", t.Given, warning.Text(t.Given.View()))
	}
}

// warnUntracked warns once about a live object that comes from a server but lacks its managed fields.
func (w *Workload) warnUntracked(t *Task) {
	if w.untracked || w.live.Tracked || t.Live == nil || len(t.Live.Entries) > 0 || t.Live.Content.Get("metadata", "uid").Str() == "" {
		return
	}
	w.untracked = true
	w.Warn(t.Live.At(), "%v has no metadata.managedFields, and so seems to have no owners: get it with kubectl get "+
		"--show-managed-fields (said once)", t.Live)
}

// task returns the task for given, or nil if there is none. If configs is set, given must be a configuration, without managed fields.
func (w *Workload) task(given *manifest.Object, configs bool) *Task {
	if configs && given.Entries != nil {
		w.Refuse(given.Key("metadata", "managedFields"), "%v: metadata.managedFields must be nil: leave it out, because it "+
			"names the owners, which only the server may do", given)
		return nil
	}
	if w.live.Unknown[given.Id] {
		return nil
	}
	if w.Config.Subresource == types.ScaleName {
		return w.scaleTask(given)
	}
	endpoint := w.endpointOf(given)
	if endpoint == nil {
		return nil
	}
	given, ok := w.identified(given, endpoint)
	if !ok {
		return nil
	}
	live, ok := w.liveOf(given, func() (*manifest.Stored, error) { return w.live.Find(given.Id) })
	if !ok {
		return nil
	}
	if s := w.Config.Subresource; live == nil && endpoint.HasSubresource(s) && !endpoint.Creates(configs) {
		w.Refuse(given.At(), "%v is not stored, and its %s cannot be written before it is", given, s)
		return nil
	}
	return &Task{Given: given, Endpoint: endpoint, at: live}
}

// endpointOf returns the endpoint that writes given, or nil with the reason reported.
func (w *Workload) endpointOf(given *manifest.Object) *types.Endpoint {
	endpoint, err := w.types.Of(given.GVK(), w.Config)
	if err != nil {
		w.Untyped(given, err)
		return nil
	}
	if !CheckSubresource(w.Library, given, endpoint, w.Config.Subresource) {
		return nil
	}
	return endpoint
}

// CheckSubresource reports a problem, and returns false, if the kind of given is known to lack the subresource. An empty name is the object
// itself.
func CheckSubresource(c *types.Library, given *manifest.Object, endpoint *types.Endpoint, name string) bool {
	if name == "" || endpoint.Subresources == nil || endpoint.HasSubresource(name) {
		return true
	}
	c.Problem(given.At("kind"), "%v: %s has no subresource %q, only %s", given, given.Id.Kind, name, nounList(endpoint.Subresources))
	return false
}

// nounList lists the only allowed names for a message.
func nounList(names []string) string {
	if len(names) == 0 {
		return "the object itself"
	}
	return wording.QuotedList(names)
}

// identified returns given with the namespace of w if it has none, and without a namespace if its kind is cluster-scoped. It returns false,
// and reports why, if the name or namespace of given contradicts w.
func (w *Workload) identified(given *manifest.Object, e *types.Endpoint) (*manifest.Object, bool) {
	switch {
	case w.Name != "" && given.Id.Name != w.Name:
		w.Problem(given.At("metadata", "name"), "%v: the name of the object is not %q, that of --name", given, w.Name)
		return nil, false
	case e.ClusterScoped:
		return given.WithNamespace(""), true
	case w.Namespace == "", given.Id.Namespace == w.Namespace:
		return given, true
	case given.Id.Namespace != "":
		w.Problem(given.At("metadata", "namespace"), "%v: the namespace of the object is not %q, that of --namespace", given, w.Namespace)
		return nil, false
	}
	return given.WithNamespace(w.Namespace), true
}

// read reads the live object of t. It returns false, with the reason reported, if t cannot write to it.
func (t *Task) read(c *manifest.Loader) bool {
	if t.at == nil {
		return true
	}
	if t.scale != nil {
		return t.readScale(c)
	}
	live := t.at.Read(c)
	if live == nil {
		return false
	}
	if live.GVK() != t.Given.GVK() {
		if !t.Endpoint.Converts() {
			ReportVersion(c, live, t.Given)
			return false
		}
		converted, err := t.Endpoint.Convert(live)
		if err != nil {
			c.Problem(live.At(), "%v: %s", live, live.View().Error(err))
			return false
		}
		live = converted
	}
	t.Live, t.Stored = live, live.Object
	return true
}

// ReportVersion reports that live has another version than its configuration, and cannot be converted.
func ReportVersion(c *manifest.Loader, live, config *manifest.Object) {
	c.Problem(live.At("apiVersion"), "%v is stored as %s, but the configuration at %v is %s: get the object in that version",
		live, live.GVK().APIVersion(), config.At(), config.GVK().APIVersion())
}

// liveOf returns the place of the live object for given, as find finds it, or nil if there is none. It returns false, with the reason
// reported, if the place is unknown.
func (w *Workload) liveOf(given *manifest.Object, find func() (*manifest.Stored, error)) (live *manifest.Stored, ok bool) {
	if other, twice := w.applied[given.Id]; twice {
		w.Problem(given.At(), "%v is already configured at %v", given, other)
		return nil, false
	}
	w.applied[given.Id] = given.At()
	live, err := find()
	switch other, twice := w.target[live]; {
	case err != nil:
		w.Problem(given.At(), "%s", given.View().Error(err))
	case live == nil && !w.live.Complete:
		w.Problem(given.At(), "%v may be stored, but not all live objects could be read", given)
	case live != nil && twice:
		w.Problem(given.At(), "%v has the same live object as the configuration at %v", given, other)
	default:
		if live != nil {
			w.target[live] = given.At()
		}
		return live, true
	}
	return nil, false
}
