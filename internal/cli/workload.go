package cli

import (
	"errors"
	"fmt"
	"slices"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/typed"
)

// writeFlags are those of the commands that write objects to live ones, or say what that would do.
type writeFlags struct {
	input   inputFlags
	live    []string
	schemas schemaFlags
	manager string
}

// register adds the flags that come first, with the name of the manager that writes when none is given.
func (f *writeFlags) register(flags *pflag.FlagSet, manager string) {
	flags.SortFlags = false
	f.input.register(flags)
	flags.StringArrayVar(&f.live, "live", nil,
		"`file` or directory with the objects as they are stored, with managedFields, or - for standard input; repeatable")
	flags.StringVar(&f.manager, "field-manager", manager, "the `name` of the manager that writes")
}

// workload is the objects of a command, each to be written to a live one.
type workload struct {
	*library
	types  *types
	live   *liveObjects
	config managedfields.Config // what is the same for all kinds
	given  []*object            // the objects to write

	applied map[objectID]*object // of them, so far
	target  map[*object]*object  // live objects with what is written to them
}

// task is an object with what it is written to.
type task struct {
	given    *object
	live     *object              // nil if nothing is stored
	stored   managedfields.Object // live's, the zero Object if nothing is stored
	endpoint *endpoint
}

// open reads the input. It returns nil if that, or the schemas, have defects that leave nothing to do. files is where the
// outcomes go, nil for nowhere.
func (c *cli) open(f writeFlags, files *rewriter) (*workload, error) {
	names, err := c.inputs(f.input)
	if err != nil {
		return nil, err
	}
	now, err := clock()
	if err := errors.Join(err, checkStdin(names, f.live), checkManager(f.manager), f.schemas.check()); err != nil {
		return nil, err
	}
	given := c.objects(c.read(names, f.input.recursive))
	before := c.problems
	live := f.live
	if files != nil {
		live = files.existing(f.input.recursive)
	}
	stored := c.objects(c.read(live, f.input.recursive))
	complete := c.problems == before
	if len(given) == 0 && c.problems == 0 {
		return nil, errors.New("there are no objects in the input")
	}
	types := c.newTypes(f.schemas, append(given[:len(given):len(given)], stored...)...)
	if types == nil {
		return nil, nil
	}
	return newWorkload(c.library, types, managedfields.Config{Now: now}, given, newLiveObjects(stored, complete)), nil
}

// newWorkload returns the workload of writing given to what is stored, with what config has in common for all kinds.
func newWorkload(c *library, types *types, config managedfields.Config, given []*object, live *liveObjects) *workload {
	types.served = true
	return &workload{
		library: c, types: types, live: live, config: config, given: given,
		applied: map[objectID]*object{}, target: map[*object]*object{},
	}
}

// tasks returns what there is to do. Objects that nothing can be done for are reported.
func (w *workload) tasks() []*task {
	var out []*task
	for _, given := range w.given {
		if t := w.task(given); t != nil {
			out = append(out, t)
		}
	}
	return out
}

// configTasks is tasks for configurations to apply. Those that have managed fields are reported.
func (w *workload) configTasks() []*task {
	var out []*task
	for _, config := range w.given {
		if config.Entries != nil {
			w.problem(config.key("metadata", "managedFields"), "%v: metadata.managedFields must be nil: leave it out, because it "+
				"says who owns what and that is for the server to say", config)
			continue
		}
		if t := w.task(config); t != nil {
			out = append(out, t)
		}
	}
	return out
}

func (w *workload) task(given *object) *task {
	live, ok := w.liveOf(given)
	if !ok {
		return nil
	}
	endpoint, err := w.types.of(given.GVK(), w.config)
	if err != nil {
		w.problem(given.at("kind"), "%v: %v", given, err)
		return nil
	}
	if live == nil && endpoint.restores == restoreRest {
		w.problem(given.at(), "%v is not stored, and its status cannot be written before it is", given)
		return nil
	}
	t := &task{given: given, live: live, endpoint: endpoint}
	if live != nil {
		if t.stored = live.Object; live.GVK() != given.GVK() && !endpoint.renamed {
			w.problem(live.at("apiVersion"), "%v is stored as %s, but the configuration at %v is %s: get the object in that version",
				live, live.GVK().APIVersion(), given.at(), given.GVK().APIVersion())
			return nil
		}
	}
	return t
}

// liveOf returns the live object that given is to be written to, nil if there is none. It reports when that is not known.
func (w *workload) liveOf(given *object) (live *object, ok bool) {
	if other := w.applied[given.id]; other != nil {
		w.problem(given.at(), "%v is already configured at %v", given, other.at())
		return nil, false
	}
	w.applied[given.id] = given
	live, err := w.live.find(given)
	switch {
	case err != nil:
		w.problem(given.at(), "%v", err)
	case live == nil && !w.live.complete:
		w.problem(given.at(), "%v may be stored, but not all live objects could be read", given)
	case live != nil && w.target[live] != nil:
		w.problem(given.at(), "%v has the same live object as the configuration at %v", given, w.target[live].at())
	default:
		if live != nil {
			w.target[live] = given
		}
		return live, true
	}
	return nil, false
}

// forEach does work for each task, several at a time, and calls use with the outcomes in order.
func forEach[T any](c *cli, what string, tasks []*task, work func(*task) T, use func(*task, T)) {
	tick, done := c.progress(what)
	for i, outcome := range inOrder(c.jobs, len(tasks), func(i int) T { return work(tasks[i]) }) {
		use(tasks[i], outcome)
		tick()
	}
	done()
}

// The roles that the errors of the field manager have for what is given to it.
const (
	applyRole  = "patch"
	updateRole = "new"
)

// refused reports why t could not be done, each reason at the place that it is about. role is that of what is given.
func refused(c *library, t *task, role string, err error) {
	var wrongType *managedfields.TypeError
	var defects typed.Errors
	var entry *managedfields.EntryError
	switch {
	case errors.As(err, &wrongType) && errors.As(err, &defects) && (t.live != nil || wrongType.Role == role):
		subject := t.given
		if wrongType.Role != role {
			subject = t.live
		}
		slices.SortStableFunc(defects, func(d, e *typed.Error) int { return subject.defectAt(d).compare(subject.defectAt(e)) })
		for _, defect := range defects {
			c.problem(subject.defectAt(defect), "%v: %s", subject, explain(defect, t.endpoint.typ))
		}
	case errors.As(err, &entry) && t.live != nil:
		c.problem(t.live.entry(err), "%v: %v", t.live, entry)
	default:
		c.problem(t.given.at(), "%v: %v", t.given, err)
	}
}

// checkManager refuses what kube-apiserver does not take for the name of a manager.
func checkManager(name string) error {
	if name == "" {
		return errors.New("--field-manager must not be empty")
	}
	if len(name) > 128 {
		return errors.New("--field-manager may not be more than 128 bytes")
	}
	for i, r := range name {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("--field-manager must be printable, but has %U at byte %d", r, i)
		}
	}
	return nil
}
