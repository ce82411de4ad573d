// Package dryrun knows what a write does to one object, before anything is stored: a [Task] is an object with what it is written
// to, [Force] decides its conflicts, and the outcome is what printers and files are given. Nothing here is text for people but
// the reasons for which an object is refused.
package dryrun

import (
	"github.com/deed-project/deed/internal/manifest"
	"github.com/deed-project/deed/internal/types"
	"github.com/deed-project/deed/managedfields"
)

// Workload is the objects of a command, each to be written to a live one.
type Workload struct {
	*types.Library
	types  *types.Types
	live   *manifest.Live
	Config managedfields.Config // what is the same for all kinds
	Given  []*manifest.Object   // the objects to write

	applied map[manifest.ID]*manifest.Object      // of them, so far
	target  map[*manifest.Object]*manifest.Object // live objects with what is written to them
}

// Task is an object with what it is written to.
type Task struct {
	Given    *manifest.Object
	Live     *manifest.Object     // nil if nothing is stored
	Stored   managedfields.Object // live's, the zero Object if nothing is stored
	Endpoint *types.Endpoint
}

// NewWorkload returns the workload of writing given to what is stored, with what config has in common for all kinds.
func NewWorkload(c *types.Library, types *types.Types, config managedfields.Config, given []*manifest.Object, live *manifest.Live) *Workload {
	types.Served = true
	return &Workload{
		Library: c, types: types, live: live, Config: config, Given: given,
		applied: map[manifest.ID]*manifest.Object{}, target: map[*manifest.Object]*manifest.Object{},
	}
}

// Tasks returns what there is to do. Objects that nothing can be done for are reported.
func (w *Workload) Tasks() []*Task {
	var out []*Task
	for _, given := range w.Given {
		if t := w.task(given); t != nil {
			out = append(out, t)
		}
	}
	return out
}

// ConfigTasks is tasks for configurations to apply. Those that have managed fields are reported.
func (w *Workload) ConfigTasks() []*Task {
	var out []*Task
	for _, config := range w.Given {
		if config.Entries != nil {
			w.Problem(config.Key("metadata", "managedFields"), "%v: metadata.managedFields must be nil: leave it out, because it "+
				"says who owns what and that is for the server to say", config)
			continue
		}
		if t := w.task(config); t != nil {
			out = append(out, t)
		}
	}
	return out
}

func (w *Workload) task(given *manifest.Object) *Task {
	live, ok := w.liveOf(given)
	if !ok {
		return nil
	}
	endpoint, err := w.types.Of(given.GVK(), w.Config)
	if err != nil {
		w.Problem(given.At("kind"), "%v: %v", given, err)
		return nil
	}
	if live == nil && endpoint.Restores == types.RestoreRest {
		w.Problem(given.At(), "%v is not stored, and its status cannot be written before it is", given)
		return nil
	}
	t := &Task{Given: given, Live: live, Endpoint: endpoint}
	if live != nil {
		if t.Stored = live.Object; live.GVK() != given.GVK() && !endpoint.Renamed {
			w.Problem(live.At("apiVersion"), "%v is stored as %s, but the configuration at %v is %s: get the object in that version",
				live, live.GVK().APIVersion(), given.At(), given.GVK().APIVersion())
			return nil
		}
	}
	return t
}

// liveOf returns the live object that given is to be written to, nil if there is none. It reports when that is not known.
func (w *Workload) liveOf(given *manifest.Object) (live *manifest.Object, ok bool) {
	if other := w.applied[given.Id]; other != nil {
		w.Problem(given.At(), "%v is already configured at %v", given, other.At())
		return nil, false
	}
	w.applied[given.Id] = given
	live, err := w.live.Find(given)
	switch {
	case err != nil:
		w.Problem(given.At(), "%v", err)
	case live == nil && !w.live.Complete:
		w.Problem(given.At(), "%v may be stored, but not all live objects could be read", given)
	case live != nil && w.target[live] != nil:
		w.Problem(given.At(), "%v has the same live object as the configuration at %v", given, w.target[live].At())
	default:
		if live != nil {
			w.target[live] = given
		}
		return live, true
	}
	return nil, false
}
