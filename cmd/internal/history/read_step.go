package history

import (
	"slices"
	"strings"
	"time"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/value"
)

func (r *historyReader) step(v value.Value, path []any) {
	s := &historyStep{Origin: r.h.In(path...), operation: stepApply, conflicts: -1}
	contents := 0
	content := func(read func(value.Value, []any)) func(value.Value, []any) {
		return func(v value.Value, path []any) {
			contents++
			read(v, path)
		}
	}
	r.members(v, path, map[string]func(value.Value, []any){
		"manager":     r.text(&s.manager),
		"operation":   r.operation(&s.operation),
		"subresource": r.text(&s.subresource),
		"endpoint":    r.text(&s.endpoint),
		"note":        r.text(&s.note),
		"force":       r.flag(&s.force),
		"time":        r.time(&s.time),
		"conflicts":   r.count(&s.conflicts),
		"error":       r.text(&s.refusal),
		"object":      content(func(v value.Value, path []any) { s.given = r.object(v, path) }),
		"file":        content(func(v value.Value, path []any) { s.given = r.fileObject(v, path) }),
		"patch":       content(func(v value.Value, _ []any) { s.patch = v }),
	})
	if v.Kind() == value.KindObject {
		r.checkStep(s, contents)
	}
}

// checkStep reports contradictions in a step with the given number of contents, and adds it to the history.
func (r *historyReader) checkStep(s *historyStep, contents int) {
	switch {
	case s.operation == stepExtract && contents > 0:
		r.Problem(s.At(), "a step that extracts reads the object of the step before, and has none of object, file and patch")
	case s.operation == stepDelete && contents > 1:
		r.Problem(s.At(), "a step that deletes has one of object and file at most, but this has %d", contents)
	case s.writes() && contents != 1:
		r.Problem(s.At(), "a step has one of object, file and patch, but this has %d", contents)
	case !s.patch.IsAbsent() && s.operation != stepUpdate:
		r.Problem(s.Key("patch"), "only a step with the operation update has a patch")
	case s.force && s.operation != stepApply:
		r.Problem(s.Key("force"), "only a step with the operation apply can use force")
	case s.conflicts >= 0 && s.operation != stepApply:
		r.Problem(s.Key("conflicts"), "only a step with the operation apply can conflict")
	case s.refusal != "" && s.operation == stepExtract:
		r.Problem(s.Key("error"), "a step that extracts only reads, and expects no error")
	case s.manager == "" && s.operation != stepDelete:
		r.Problem(s.At(), "a step needs a manager")
	}
	r.h.timed = r.h.timed || !s.time.IsZero()
	r.h.steps = append(r.h.steps, s)
}

func (r *historyReader) operation(into *string) func(value.Value, []any) {
	return func(v value.Value, path []any) {
		r.text(into)(v, path)
		if !slices.Contains(stepOperations, *into) {
			r.Problem(r.h.At(path...), "the operation must be one of %s", strings.Join(stepOperations, ", "))
		}
	}
}

func (r *historyReader) time(into *time.Time) func(value.Value, []any) {
	return func(v value.Value, path []any) {
		var err error
		if *into, err = time.Parse(time.RFC3339, v.Str()); err != nil {
			r.Problem(r.h.At(path...), "expected a time such as 2026-01-01T00:00:00Z, but this is %s", secret.Unplaced(v))
		}
	}
}

func (r *historyReader) count(into *int64) func(value.Value, []any) {
	return func(v value.Value, path []any) {
		if v.Kind() != value.KindInt || v.Int() < 0 {
			r.Problem(r.h.At(path...), "expected a number of conflicts, 0 or more, but this is %s", secret.Unplaced(v))
			return
		}
		*into = v.Int()
	}
}

// object reads an object inside the history.
func (r *historyReader) object(v value.Value, path []any) *manifest.Object {
	objects := manifest.Reader{Loader: r.Loader, Text: r.h.Part.Text}
	if v.Kind() != value.KindObject {
		r.Problem(r.h.At(path...), "expected an object, but this is %s", secret.Unplaced(v))
		return nil
	}
	return objects.Object(r.h.In(path...), v)
}

// fileObject reads the one object in a file.
func (r *historyReader) fileObject(v value.Value, path []any) *manifest.Object {
	var name string
	if r.text(&name)(v, path); name == "" {
		return nil
	}
	before := r.Problems
	objects := r.Objects(r.Library.Read([]string{r.relative(name)}, false))
	if r.Problems != before {
		return nil
	}
	if len(objects) != 1 {
		r.Problem(r.h.At(path...), "%s must have one object, but has %d", name, len(objects))
		return nil
	}
	return objects[0]
}
