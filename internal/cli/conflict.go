package cli

import (
	"fmt"
	"strings"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/value"
)

// contest is a field that an apply would change, with everybody who has a conflict over it.
type contest struct {
	path         fieldpath.Path
	live, wanted value.Value
	owners       []merge.Entry
}

// show returns the two values for messages. Secrets stay secret.
func (f *contest) show(o *object) (live, wanted string) {
	if isSecretPath(o.Object, f.path) {
		return showPair(maskPair(f.live, f.wanted))
	}
	return showPair(f.live, f.wanted)
}

// contests groups conflicts by field, in the order in which the fields come first.
func contests(conflicts merge.Conflicts) []*contest {
	var out []*contest
	byPath := map[string]*contest{}
	for _, f := range conflicts {
		key := string(f.Path.AppendText(nil))
		known := byPath[key]
		if known == nil || !known.live.Equal(f.Live) || !known.wanted.Equal(f.Wanted) {
			known = &contest{path: f.Path, live: f.Live, wanted: f.Wanted}
			byPath[key] = known
			out = append(out, known)
		}
		known.owners = append(known.owners, f.Owner)
	}
	return out
}

// conflictReport explains the conflicts of a run, one object at a time, and says at the end what to do about them.
type conflictReport struct {
	log     *log
	manager string // who applies
	paint   painter

	places      []position // of the fields in the configurations
	sameName    bool       // whether an owner is an updater of the same name
	beforeFirst bool       // whether an owner is what kube-apiserver makes up for objects without managed fields
}

// beforeFirstApply is who owns what was in an object when it was first applied to.
const beforeFirstApply = "before-first-apply"

// add reports the conflicts of applying config: what kube-apiserver says of them, then each field with its owners and values.
func (r *conflictReport) add(config *object, conflicts merge.Conflicts) {
	r.log.raise(exitFinding)
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n", conflicts)
	for _, f := range contests(conflicts) {
		where := config.key(steps(config.Content, f.path)...)
		r.places = append(r.places, where)
		fmt.Fprintf(&b, "  %v: %v: %s\n", where, config, r.paint.paint(strong, f.path.String()))
		for _, owner := range f.owners {
			fmt.Fprintf(&b, "    owner:  %s\n", r.paint.paint(yellow, showOwner(owner)))
			name, operation := owner.Manager.Name, owner.Manager.Operation
			r.sameName = r.sameName || name == r.manager && operation == merge.Update
			r.beforeFirst = r.beforeFirst || name == beforeFirstApply
		}
		live, wanted := f.show(config)
		fmt.Fprintf(&b, "    live:   %s\n    wanted: %s\n", r.paint.paint(red, live), r.paint.paint(green, wanted))
	}
	fmt.Fprint(r.log, b.String())
}

// advise says what can be done, once for all conflicts of the run.
func (r *conflictReport) advise() {
	if len(r.places) == 0 {
		return
	}
	remove := "it from " + r.places[0].String()
	if len(r.places) > 1 {
		remove = fmt.Sprintf("it from the %d places above", len(r.places))
	}
	var b strings.Builder
	if r.sameName {
		fmt.Fprintf(&b, `
The owner %q with the operation Update is not you: it wrote with kubectl apply
without --server-side, kubectl edit or the like, and you write with Apply.
`, r.manager)
	}
	if r.beforeFirst {
		fmt.Fprintf(&b, `
The owner %q stands for everybody who wrote to the object before it
was applied to for the first time.
`, beforeFirstApply)
	}
	fmt.Fprintf(&b, `
What to do about a field in conflict:
  take it     run again with --force-conflicts, or --force-field PATH: its owners lose it to %q
  share it    set it to the live value: %q then owns it too
  give it up  remove %s: it stays as it is
`, r.manager, r.manager, remove)
	fmt.Fprint(r.log, b.String())
}

// forced says what writing given took from others.
func forced(c *library, given *object, lost merge.Conflicts) {
	for _, f := range contests(lost) {
		owners := make([]string, len(f.owners))
		for i, owner := range f.owners {
			owners[i] = showOwner(owner)
		}
		live, taken := f.show(given)
		change := live + " becomes " + taken + ", taken from "
		if f.wanted.IsAbsent() {
			change = live + " is removed, and was owned by "
		}
		fmt.Fprintf(c.log, "%v: %v: %v: %s%s\n", given.key(steps(given.Content, f.path)...), given, f.path, change,
			strings.Join(owners, " and "))
	}
}
