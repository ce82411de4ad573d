package difftest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	smdpath "sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	smdmerge "sigs.k8s.io/structured-merge-diff/v4/merge"
	smdtyped "sigs.k8s.io/structured-merge-diff/v4/typed"

	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// key returns the reference's name of a manager, which is text: m1/Apply or m1/Update/v1.
func key(m merge.Manager) string {
	return strings.TrimSuffix(m.Name+"/"+string(m.Operation)+"/"+m.APIVersion, "/")
}

// managerOf is the inverse of key.
func managerOf(key string) merge.Manager {
	parts := strings.SplitN(key+"/", "/", 3)
	return merge.Manager{Name: parts[0], Operation: merge.Operation(parts[1]), APIVersion: strings.TrimSuffix(parts[2], "/")}
}

// deedRun is the state of an object in deed.
type deedRun struct {
	*world
	engine   *merge.Engine
	live     value.Value
	version  string // of live
	managers merge.Managers
	last     outcome
}

func (r *deedRun) step(w gen.Write) (out outcome) {
	defer func() {
		if p := recover(); p != nil {
			out = outcome{err: fmt.Sprint("panic: ", p)}
		}
	}()
	err := r.write(w)
	var conflicts merge.Conflicts
	switch {
	case errors.As(err, &conflicts):
		out.conflicts = conflicts.Error()
	case err != nil:
		out.err, out.message = "error", err.Error()
	}
	out.object = string(r.live.AppendJSON(nil))
	out.managers = map[string]string{}
	for e := range r.managers.All() {
		out.managers[key(e.Manager)] = e.APIVersion + " " + string(e.Fields.AppendJSON(nil))
	}
	return out
}

func (r *deedRun) write(w gen.Write) error {
	request, err := r.request(w)
	if err != nil {
		return err
	}
	var result merge.Result
	if w.Operation == merge.Update {
		result, err = r.engine.Update(request)
	} else {
		result, err = r.apply(request, w.Force)
	}
	if err != nil {
		return err
	}
	r.live, r.version, r.managers = result.Object.Content(), w.Version, result.Managers
	return nil
}

// request returns w as a request of the engine about the current object.
func (r *deedRun) request(w gen.Write) (merge.Request, error) {
	t := r.types[w.Version]
	live, err := typed.New(r.schema.Convert(r.live, r.version, w.Version), t, typed.AllowDuplicates)
	if err != nil {
		return merge.Request{}, err
	}
	request := merge.Request{Live: live, Managers: r.managers, Manager: w.Manager, APIVersion: w.Version}
	if w.Operation == merge.Update {
		request.Object, err = typed.New(w.Object, t, typed.AllowDuplicates)
	} else {
		request.Object, err = typed.New(w.Object, t)
	}
	return request, err
}

func (r *deedRun) apply(request merge.Request, force bool) (merge.Result, error) {
	plan, err := r.engine.Apply(request)
	if err != nil {
		return merge.Result{}, err
	}
	if conflicts := plan.Conflicts(); !force && len(conflicts) > 0 {
		return merge.Result{}, conflicts
	}
	return plan.Force(), nil
}

// smdRun is the state of an object in the reference. It keeps managers as servers do: as JSON.
type smdRun struct {
	*world
	updater  *smdmerge.Updater
	live     any
	version  string
	managers map[string]smdEntry
}

type smdEntry struct {
	version string
	fields  []byte
}

func (r *smdRun) step(w gen.Write) (out outcome) {
	defer func() {
		if p := recover(); p != nil {
			out = outcome{err: fmt.Sprint("panic: ", p)}
		}
	}()
	err := r.write(w)
	var conflicts smdmerge.Conflicts
	switch {
	case errors.As(err, &conflicts):
		out.conflicts = wording(conflicts)
	case err != nil:
		out.err, out.message = "error", err.Error()
	}
	object, err := value.FromAny(r.live) // deed prints it, because the reference spells 1e-7 as 1e-07, unlike encoding/json
	if err != nil {
		panic(err)
	}
	out.object = string(object.AppendJSON(nil))
	out.managers = r.show()
	return out
}

// show returns the managers in the form of an outcome.
func (r *smdRun) show() map[string]string {
	out := map[string]string{}
	for k, e := range r.managers {
		out[k] = e.version + " " + string(e.fields)
	}
	return out
}

func (r *smdRun) write(w gen.Write) error {
	t := r.smd[w.Version]
	content, err := value.FromAny(r.live)
	if err != nil {
		return err
	}
	live, err := t.FromUnstructured(r.schema.Convert(content, r.version, w.Version).ToAny(), smdtyped.AllowDuplicates)
	if err != nil {
		return err
	}
	managers, err := r.decode()
	if err != nil {
		return err
	}
	version := smdpath.APIVersion(w.Version)
	var result *smdtyped.TypedValue
	if w.Operation == merge.Update {
		object, err := t.FromUnstructured(w.Object.ToAny(), smdtyped.AllowDuplicates)
		if err != nil {
			return err
		}
		result, managers, err = r.updater.Update(live, object, version, managers, key(w.Manager))
		if err != nil {
			return err
		}
	} else {
		config, err := t.FromUnstructured(w.Object.ToAny())
		if err != nil {
			return err
		}
		result, managers, err = r.updater.Apply(live, config, version, managers, key(w.Manager), w.Force)
		if err != nil {
			return err
		}
	}
	if result == nil { // the object does not change
		result = live
	}
	r.live, r.version = result.AsValue().Unstructured(), w.Version
	return r.encode(managers)
}

func (r *smdRun) decode() (smdpath.ManagedFields, error) {
	out := smdpath.ManagedFields{}
	for k, e := range r.managers {
		set := smdpath.NewSet()
		if err := set.FromJSON(bytes.NewReader(e.fields)); err != nil {
			return nil, err
		}
		out[k] = smdpath.NewVersionedSet(set, smdpath.APIVersion(e.version), managerOf(k).Operation == merge.Apply)
	}
	return out, nil
}

func (r *smdRun) encode(managers smdpath.ManagedFields) error {
	r.managers = map[string]smdEntry{}
	for k, e := range managers {
		fields, err := e.Set().ToJSON()
		if err != nil {
			return err
		}
		r.managers[k] = smdEntry{string(e.APIVersion()), fields}
	}
	return nil
}

// wording returns the reference's conflicts in kube-apiserver's words. Managers come in random order, and the paths of each in order.
func wording(conflicts smdmerge.Conflicts) string {
	slices.SortStableFunc(conflicts, func(a, b smdmerge.Conflict) int {
		return merging.Compare(managerOf(a.Manager), managerOf(b.Manager))
	})
	if len(conflicts) == 1 {
		c := conflicts[0]
		return fmt.Sprintf("Apply failed with 1 conflict: conflict with %v: %v", managerOf(c.Manager), c.Path)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Apply failed with %d conflicts:", len(conflicts))
	for i, c := range conflicts {
		if i == 0 || conflicts[i-1].Manager != c.Manager {
			space := "\n"
			if i == 0 {
				space = " "
			}
			fmt.Fprintf(&b, "%sconflicts with %v:", space, managerOf(c.Manager))
		}
		fmt.Fprintf(&b, "\n- %v", c.Path)
	}
	return b.String()
}
