package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

// history is a file of steps to replay.
type history struct {
	origin
	schemas schemaFlags
	resets  map[string]fieldpath.Set // by subresource: what it does not write
	timed   bool                     // whether any step says when it is
	steps   []*historyStep
}

// historyStep is one write.
type historyStep struct {
	origin      // of the step; its document is that of the history
	manager     string
	operation   string
	subresource string
	endpoint    string // the version that is asked to write, empty for that of the object
	note        string
	force       bool
	time        time.Time // zero when it is not given
	conflicts   int64     // how many are expected, -1 when it is not given
	refusal     string    // what the expected error says, empty when none is expected
	given       *object   // nil for a patch, and for what only reads
	patch       value.Value
}

// The operations of steps.
const (
	stepApply   = "apply"
	stepUpdate  = "update"
	stepDelete  = "delete"
	stepExtract = "extract"
)

var stepOperations = []string{stepApply, stepUpdate, stepDelete, stepExtract}

// histories reads the histories in a text: one in each document. It reports what is wrong, and returns only those that are
// sound.
func histories(c *library, t *text) []*history {
	if filepath.Ext(t.name) == ".txtar" {
		unpackArchive(c, t)
	}
	c.parse([]*text{t})
	var out []*history
	for _, p := range t.parts {
		if p.err != nil {
			c.parseProblem(p.err)
		}
		for i, doc := range p.docs {
			r := historyReader{library: c, h: &history{origin: origin{file: t.name, part: p, index: i, number: len(out) + 1, doc: doc}}}
			before := c.problems
			if r.read(doc.Value); c.problems == before {
				out = append(out, r.h)
			}
		}
	}
	return out
}

// unpackArchive makes t the comment of the txtar archive that it is, and its files ones that can be read by name.
func unpackArchive(c *library, t *text) {
	archive := txtar.Parse(t.data)
	t.data = archive.Comment
	if c.archived == nil {
		c.archived = map[string][]byte{}
	}
	for _, f := range archive.Files {
		c.archived[inArchive(t.name, f.Name)] = f.Data
	}
}

// inArchive returns what the file called name in an archive is called in messages.
func inArchive(archive, name string) string {
	return archive + "/" + filepath.ToSlash(filepath.Clean(name))
}

// historyReader reads one history.
type historyReader struct {
	*library
	h *history
}

// members calls the function for each member of the object at path, and reports members that have none.
func (r *historyReader) members(v value.Value, path []any, known map[string]func(value.Value, []any)) {
	if v.Kind() != value.KindObject {
		r.problem(r.h.at(path...), "expected an object, but this is %s", show(v))
		return
	}
	for name, member := range v.Members() {
		at := append(slices.Clone(path), name)
		if read := known[name]; read != nil {
			read(member, at)
			continue
		}
		names := make([]string, 0, len(known))
		for other := range known {
			names = append(names, other)
		}
		slices.Sort(names)
		hint := "; there are " + strings.Join(names, ", ")
		if meant := nearest(name, names); meant != "" {
			hint = fmt.Sprintf("; did you mean %q?", meant)
		}
		r.problem(r.h.key(at...), "unknown key %q%s", name, hint)
	}
}

// text returns the function that reads a string.
func (r *historyReader) text(into *string) func(value.Value, []any) {
	return func(v value.Value, path []any) {
		if v.Kind() != value.KindString {
			r.problem(r.h.at(path...), "expected a string, but this is %s", show(v))
			return
		}
		*into = v.Str()
	}
}

// flag returns the function that reads a boolean.
func (r *historyReader) flag(into *bool) func(value.Value, []any) {
	return func(v value.Value, path []any) {
		if v.Kind() != value.KindBool {
			r.problem(r.h.at(path...), "expected true or false, but this is %s", show(v))
			return
		}
		*into = v.Bool()
	}
}

// files returns the function that reads names of files, which are relative to the history.
func (r *historyReader) files(into *[]string) func(value.Value, []any) {
	return func(v value.Value, path []any) {
		if v.Kind() != value.KindList {
			r.problem(r.h.at(path...), "expected a list of files, but this is %s", show(v))
			return
		}
		for i, item := range slices.Collect(v.Items()) {
			var name string
			if r.text(&name)(item, append(slices.Clone(path), i)); name != "" {
				*into = append(*into, r.relative(name))
			}
		}
	}
}

// relative returns the path of the file that the history calls name.
func (r *historyReader) relative(name string) string {
	if _, ok := r.archived[inArchive(r.h.file, name)]; ok {
		return inArchive(r.h.file, name)
	}
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(r.h.file), name)
}

func (r *historyReader) read(v value.Value) {
	hasSteps := false
	r.members(v, nil, map[string]func(value.Value, []any){
		"crds":        r.files(&r.h.schemas.crds),
		"openapi":     r.files(&r.h.schemas.openAPI),
		"type":        r.text(&r.h.schemas.typeName),
		"schemaless":  r.flag(&r.h.schemas.schemaless),
		"resetFields": r.resetFields,
		"schema": func(v value.Value, path []any) {
			if r.text(&r.h.schemas.schema)(v, path); r.h.schemas.schema != "" {
				r.h.schemas.schema = r.relative(r.h.schemas.schema)
			}
		},
		"steps": func(v value.Value, path []any) {
			hasSteps = v.Len() > 0
			if v.Kind() != value.KindList {
				r.problem(r.h.at(path...), "expected a list of steps, but this is %s", show(v))
				return
			}
			for i, item := range slices.Collect(v.Items()) {
				r.step(item, append(slices.Clone(path), i))
			}
		},
	})
	if !hasSteps && v.Kind() == value.KindObject {
		r.problem(r.h.at(), "a history needs steps")
	}
}

// resetFields reads which fields each subresource does not write.
func (r *historyReader) resetFields(v value.Value, path []any) {
	if v.Kind() != value.KindObject {
		r.problem(r.h.at(path...), "expected lists of paths by subresource, but this is %s", show(v))
		return
	}
	r.h.resets = map[string]fieldpath.Set{}
	for subresource, list := range v.Members() {
		at := append(slices.Clone(path), subresource)
		if list.Kind() != value.KindList {
			r.problem(r.h.at(at...), "expected a list of paths, but this is %s", show(list))
		}
		var fields fieldpath.Builder
		for i, item := range slices.Collect(list.Items()) {
			field, err := fieldpath.ParsePath(item.Str())
			if err != nil || len(field) == 0 {
				r.problem(r.h.at(append(slices.Clone(at), i)...), "expected a path such as .status, but this is %s", show(item))
				continue
			}
			fields.Add(field)
		}
		r.h.resets[subresource] = fields.Set()
	}
}

func (r *historyReader) step(v value.Value, path []any) {
	s := &historyStep{origin: r.h.in(path...), operation: stepApply, conflicts: -1}
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

// checkStep reports what does not go together in a step with so many contents, and adds it to the history.
func (r *historyReader) checkStep(s *historyStep, contents int) {
	wanted := 1
	if s.operation == stepExtract {
		wanted = 0
	}
	switch {
	case wanted == 0 && contents > 0:
		r.problem(s.at(), "a step that extracts reads the object of the step before, and has none of object, file and patch")
	case contents != wanted:
		r.problem(s.at(), "a step has one of object, file and patch, but this has %d", contents)
	case !s.patch.IsAbsent() && s.operation != stepUpdate:
		r.problem(s.key("patch"), "only a step with the operation update has a patch")
	case s.manager == "" && s.operation != stepDelete:
		r.problem(s.at(), "a step needs a manager")
	}
	r.h.timed = r.h.timed || !s.time.IsZero()
	r.h.steps = append(r.h.steps, s)
}

func (r *historyReader) operation(into *string) func(value.Value, []any) {
	return func(v value.Value, path []any) {
		r.text(into)(v, path)
		if !slices.Contains(stepOperations, *into) {
			r.problem(r.h.at(path...), "the operation must be one of %s", strings.Join(stepOperations, ", "))
		}
	}
}

func (r *historyReader) time(into *time.Time) func(value.Value, []any) {
	return func(v value.Value, path []any) {
		var err error
		if *into, err = time.Parse(time.RFC3339, v.Str()); err != nil {
			r.problem(r.h.at(path...), "expected a time such as 2026-01-01T00:00:00Z, but this is %s", show(v))
		}
	}
}

func (r *historyReader) count(into *int64) func(value.Value, []any) {
	return func(v value.Value, path []any) {
		if v.Kind() != value.KindInt || v.Int() < 0 {
			r.problem(r.h.at(path...), "expected a number of conflicts, but this is %s", show(v))
			return
		}
		*into = v.Int()
	}
}

// object reads an object that stands in the history.
func (r *historyReader) object(v value.Value, path []any) *object {
	objects := reader{loader: r.loader, text: r.h.part.text}
	if v.Kind() != value.KindObject {
		r.problem(r.h.at(path...), "expected an object, but this is %s", show(v))
		return nil
	}
	return objects.object(r.h.in(path...), v)
}

// fileObject reads the one object in a file.
func (r *historyReader) fileObject(v value.Value, path []any) *object {
	var name string
	if r.text(&name)(v, path); name == "" {
		return nil
	}
	before := r.problems
	objects := r.objects(r.library.read([]string{r.relative(name)}, false))
	if r.problems != before {
		return nil
	}
	if len(objects) != 1 {
		r.problem(r.h.at(path...), "%s must have one object, but has %d", name, len(objects))
		return nil
	}
	return objects[0]
}
