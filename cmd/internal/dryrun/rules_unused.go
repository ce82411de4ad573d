package dryrun

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/wording"
)

// seen holds suggestions for rules that match nothing: the kinds of the objects, and the first few objects by position. Tasks that run
// concurrently add themselves in any order.
type seen struct {
	lock    sync.Mutex
	kinds   map[string]bool
	objects []seenObject // sorted; at most maxCandidates+1
}

type seenObject struct {
	at notice.Position
	id string
}

// maxCandidates is the number of objects that a message lists.
const maxCandidates = 5

func (s *seen) add(t *Task) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.kinds == nil {
		s.kinds = map[string]bool{}
	}
	s.kinds[t.Given.Id.Kind] = true
	o := seenObject{t.Given.At(), t.Given.Id.String()}
	i, _ := slices.BinarySearchFunc(s.objects, o, func(a, b seenObject) int {
		return cmp.Or(cmp.Compare(a.at.File, b.at.File), a.at.Compare(b.at))
	})
	s.objects = slices.Insert(s.objects, i, o)
	s.objects = s.objects[:min(len(s.objects), maxCandidates+1)]
}

// see records which rules, managers and fields of rules match t. A field without a conflict counts as used, as in [Force.see].
func (r *Rules) see(t *Task) {
	if r == nil {
		return
	}
	r.seen.add(t)
	for _, x := range r.rules {
		if !x.about(t.Given) {
			continue
		}
		x.used.Store(true)
		for _, m := range x.managers {
			for _, e := range t.Stored.Entries {
				if matches(m.text, e.Manager) {
					m.used.Store(true)
				}
			}
		}
		for _, f := range slices.Concat(x.force, x.ignore) {
			if !f.used.Load() {
				if paths, err := f.In(t.Given.Content); err != nil || len(paths) > 0 {
					f.used.Store(true)
				}
			}
		}
	}
}

// unused returns an error for each rule that matches no object, and for the managers and fields of other rules that match nothing. managers
// holds the known names.
func (r *Rules) unused(managers []string) []error {
	if r == nil {
		return nil
	}
	var errs []error
	fail := func(at notice.Position, format string, args ...any) {
		errs = append(errs, fmt.Errorf("--rules: %v: %s", at, fmt.Sprintf(format, args...)))
	}
	for _, x := range r.rules {
		if !x.used.Load() {
			fail(x.at, "this rule is about no object%s", r.seen.candidates(x))
			continue
		}
		for _, m := range x.managers {
			if !m.used.Load() {
				fail(m.at, "there is no manager %q in the live objects of this rule%s", m.text, candidateManagers(m.text, managers))
			}
		}
		for _, f := range slices.Concat(x.force, x.ignore) {
			if !f.used.Load() {
				fail(f.at, "%s matches no field of the configurations of this rule", f)
			}
		}
	}
	return errs
}

// candidates suggests objects or a kind for x, which matches no object.
func (s *seen) candidates(x *rule) string {
	kinds := slices.Collect(maps.Keys(s.kinds))
	slices.Sort(kinds)
	if meant := wording.Nearest(x.kind, kinds); x.kind != "" && !s.kinds[x.kind] && meant != "" {
		return fmt.Sprintf("; did you mean kind %s?", meant)
	}
	var ids []string
	for _, o := range s.objects {
		ids = append(ids, o.id)
	}
	switch n := min(len(ids), maxCandidates); {
	case n == 0:
		return ": there are none"
	case n < len(ids):
		return "; there are " + strings.Join(ids[:n], ", ") + " and others"
	default:
		return "; there are " + strings.Join(ids, ", ")
	}
}

// candidateManagers suggests known managers for name.
func candidateManagers(name string, managers []string) string {
	if meant := wording.Nearest(name, managers); meant != "" {
		return fmt.Sprintf("; did you mean %q?", meant)
	}
	if len(managers) > 0 {
		return ", only " + wording.QuotedList(managers)
	}
	return ""
}
