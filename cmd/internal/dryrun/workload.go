// Package dryrun knows what a write does to one object, before anything is stored: a [Task] is an
// object with what it is written to, [Force] decides its conflicts, and the outcome is what
// printers and files are given. Nothing here is text for people but the reasons for which an object
// is refused.
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

// Workload is the objects of a command, each to be written to a live one.
type Workload struct {
	*types.Library
	types  *types.Types
	live   *manifest.Live
	Config managedfields.Config // what is the same for all kinds
	// Namespace is that of objects that do not say theirs; empty if none is known. So is Name, if
	// there is one object.
	Namespace, Name string

	// Given is how many objects were given so far, those included that nothing could be done for.
	Given int

	given    iter.Seq[*manifest.Object]
	applied  map[manifest.ID]notice.Position // of those, so far
	managers map[string]bool                 // of live objects, so far
	// untracked is whether it was said that managed fields are missing.
	untracked bool
	target    map[*manifest.Stored]notice.Position // what is written to live objects
}

// Task is an object with what it is written to.
type Task struct {
	Given    *manifest.Object
	Live     *manifest.Object     // nil if nothing is stored
	Stored   managedfields.Object // live's, the zero Object if nothing is stored
	Endpoint *types.Endpoint

	at    *manifest.Stored // where Live is; nil if nothing is stored
	scale *scaling         // nil unless Given and Stored are the Scale that stands for Live
}

// NewWorkload returns the workload of writing given to what is stored, with what config has in
// common for all kinds.
func NewWorkload(
	c *types.Library, types *types.Types, config managedfields.Config, given iter.Seq[*manifest.Object], live *manifest.Live,
) *Workload {
	types.Served = true
	return &Workload{
		Library: c, types: types, live: live, Config: config, given: given,
		managers: map[string]bool{}, applied: map[manifest.ID]notice.Position{}, target: map[*manifest.Stored]notice.Position{},
	}
}

// Each does work for each task, several at a time, and calls use with what it returns, in order.
// Objects that nothing can be done for are reported. One object at a time is read, worked on, used
// and let go, a few of them at once.
func Each[T any](w *Workload, what string, configs bool, work func(*Task) T, use func(*Task, T)) {
	type done struct {
		log *notice.Log // what was wrong with the task
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

// Managers returns the names of the managers of live objects that were worked on, sorted.
func (w *Workload) Managers() []string { return slices.Sorted(maps.Keys(w.managers)) }

// warnUntracked warns, once for all objects, about a live object that a server stores but whose
// managed fields were left out.
func (w *Workload) warnUntracked(t *Task) {
	if w.untracked || t.Live == nil || len(t.Live.Entries) > 0 || t.Live.Content.Get("metadata", "uid").Str() == "" {
		return
	}
	w.untracked = true
	w.Warn(t.Live.At(), "%v has no metadata.managedFields, so that nobody seems to own anything: get it with kubectl get "+
		"--show-managed-fields (said once)", t.Live)
}

// task returns what is to be done with given, which must be a configuration if configs says so.
func (w *Workload) task(given *manifest.Object, configs bool) *Task {
	if configs && given.Entries != nil {
		w.Refuse(given.Key("metadata", "managedFields"), "%v: metadata.managedFields must be nil: leave it out, because it "+
			"says who owns what and that is for the server to say", given)
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
	if s := w.Config.Subresource; live == nil && s != "" && endpoint.HasSubresource(s) {
		w.Refuse(given.At(), "%v is not stored, and its %s cannot be written before it is", given, s)
		return nil
	}
	return &Task{Given: given, Endpoint: endpoint, at: live}
}

// endpointOf returns how given is written. It is nil if it is not, with the reason reported.
func (w *Workload) endpointOf(given *manifest.Object) *types.Endpoint {
	endpoint, err := w.types.Of(given.GVK(), w.Config)
	if err != nil {
		w.Untyped(given, err)
		return nil
	}
	if s := w.Config.Subresource; s != "" && endpoint.Subresources != nil && !endpoint.HasSubresource(s) {
		w.Problem(given.At("kind"), "%v: %s has no subresource %q, only %s", given, given.Id.Kind, s, nounList(endpoint.Subresources))
		return nil
	}
	return endpoint
}

// nounList lists names for a message that there is nothing else.
func nounList(names []string) string {
	if len(names) == 0 {
		return "the object itself"
	}
	return wording.QuotedList(names)
}

// identified returns given in the namespace of w if it does not say its own, and in none if its
// kind has none. It reports when it says another namespace, or name, than w does.
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

// read reads the live object of t. It is false, with the reason reported, if nothing can be written
// to that.
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
	if live.GVK() != t.Given.GVK() && !t.Endpoint.Renamed {
		c.Problem(live.At("apiVersion"), "%v is stored as %s, but the configuration at %v is %s: get the object in that version",
			live, live.GVK().APIVersion(), t.Given.At(), t.Given.GVK().APIVersion())
		return false
	}
	t.Live, t.Stored = live, live.Object
	return true
}

// liveOf returns where the live object is that given is to be written to, nil if there is none, as
// find finds it. It reports when that is not known.
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
