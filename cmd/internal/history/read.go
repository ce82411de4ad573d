package history

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

// Histories reads the histories in a text, one in each document. It reports defects, and returns only the histories without one.
func Histories(c *types.Library, t *manifest.Text) []*History {
	if filepath.Ext(t.Name) == ".txtar" {
		unpackArchive(c, t)
	}
	c.Parse([]*manifest.Text{t})
	var out []*History
	for _, p := range t.Parts {
		if p.Err != nil {
			c.ParseProblem(p.Err)
		}
		for i, doc := range p.Docs {
			r := historyReader{Library: c, h: &History{Origin: manifest.Origin{File: t.Name, Part: p, Index: i, Number: len(out) + 1, Doc: doc}}}
			before := c.Problems
			if r.read(doc.Value); c.Problems == before {
				out = append(out, r.h)
			}
		}
	}
	return out
}

// unpackArchive replaces t, a txtar archive, by its comment, and registers the files of the archive by name.
func unpackArchive(c *types.Library, t *manifest.Text) {
	archive := txtar.Parse(t.Data)
	t.Data = archive.Comment
	if c.Archived == nil {
		c.Archived = map[string][]byte{}
	}
	for _, f := range archive.Files {
		c.Archived[inArchive(t.Name, f.Name)] = f.Data
	}
}

// inArchive returns the name in messages for the file called name in an archive.
func inArchive(archive, name string) string {
	return archive + "/" + filepath.ToSlash(filepath.Clean(name))
}

// historyReader reads one history.
type historyReader struct {
	*types.Library
	h *History
}

// members calls the function in known for each member of the object at path, and reports members without a function.
func (r *historyReader) members(v value.Value, path []any, known map[string]func(value.Value, []any)) {
	if v.Kind() != value.KindObject {
		r.Problem(r.h.At(path...), "expected an object, but this is %s", secret.Unplaced(v))
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
		if meant := wording.Nearest(name, names); meant != "" {
			hint = fmt.Sprintf("; did you mean %q?", meant)
		}
		r.Problem(r.h.Key(at...), "unknown key %q%s", name, hint)
	}
}

// text returns a function that reads a string.
func (r *historyReader) text(into *string) func(value.Value, []any) {
	return func(v value.Value, path []any) {
		if v.Kind() != value.KindString {
			r.Problem(r.h.At(path...), "expected a string, but this is %s", secret.Unplaced(v))
			return
		}
		*into = v.Str()
	}
}

// flag returns a function that reads a boolean.
func (r *historyReader) flag(into *bool) func(value.Value, []any) {
	return func(v value.Value, path []any) {
		if v.Kind() != value.KindBool {
			r.Problem(r.h.At(path...), "expected true or false, but this is %s", secret.Unplaced(v))
			return
		}
		*into = v.Bool()
	}
}

// files returns a function that reads names of files, which are relative to the history.
func (r *historyReader) files(into *[]string) func(value.Value, []any) {
	return func(v value.Value, path []any) {
		if v.Kind() != value.KindList {
			r.Problem(r.h.At(path...), "expected a list of files, but this is %s", secret.Unplaced(v))
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
	if _, ok := r.Archived[inArchive(r.h.File, name)]; ok {
		return inArchive(r.h.File, name)
	}
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(r.h.File), name)
}

func (r *historyReader) read(v value.Value) {
	hasSteps := false
	r.members(v, nil, map[string]func(value.Value, []any){
		"crds":        r.files(&r.h.schemas.Crds),
		"openapi":     r.files(&r.h.schemas.OpenAPI),
		"type":        r.text(&r.h.schemas.TypeName),
		"schemaless":  r.flag(&r.h.schemas.Schemaless),
		"resetFields": r.resetFields,
		"schema": func(v value.Value, path []any) {
			if r.text(&r.h.schemas.Schema)(v, path); r.h.schemas.Schema != "" {
				r.h.schemas.Schema = r.relative(r.h.schemas.Schema)
			}
		},
		"steps": func(v value.Value, path []any) {
			hasSteps = v.Len() > 0
			if v.Kind() != value.KindList {
				r.Problem(r.h.At(path...), "expected a list of steps, but this is %s", secret.Unplaced(v))
				return
			}
			for i, item := range slices.Collect(v.Items()) {
				r.step(item, append(slices.Clone(path), i))
			}
		},
	})
	if !hasSteps && v.Kind() == value.KindObject {
		r.Problem(r.h.At(), "a history needs steps")
	}
}

// resetFields reads the fields that each subresource does not write.
func (r *historyReader) resetFields(v value.Value, path []any) {
	if v.Kind() != value.KindObject {
		r.Problem(r.h.At(path...), "expected lists of paths by subresource, but this is %s", secret.Unplaced(v))
		return
	}
	r.h.resets = map[string]fieldpath.Set{}
	for subresource, list := range v.Members() {
		at := append(slices.Clone(path), subresource)
		if list.Kind() != value.KindList {
			r.Problem(r.h.At(at...), "expected a list of paths, but this is %s", secret.Unplaced(list))
		}
		var fields fieldpath.Builder
		for i, item := range slices.Collect(list.Items()) {
			field, err := fieldpath.ParsePath(item.Str())
			if err != nil || len(field) == 0 {
				r.Problem(r.h.At(append(slices.Clone(at), i)...), "expected a path such as .status, but this is %s", secret.Unplaced(item))
				continue
			}
			fields.Add(field)
		}
		r.h.resets[subresource] = fields.Set()
	}
}
