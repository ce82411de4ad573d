package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/value"
)

// Flush writes the files, and prints the notes of the files that it wrote. It reports the files that it could not write, and removes
// temporary files of killed runs beside the files.
func (w *Rewriter) Flush() {
	if !w.dry {
		w.removeLeftovers(w.order)
	}
	for _, f := range w.order {
		data, err := w.content(f)
		if err == nil && !w.dry {
			err = f.write(data)
		}
		if err != nil {
			w.Problem(notice.InFile(f.text.Name), "not written: %s", w.Secrets.View(value.Value{}).Error(err))
			if !errors.Is(err, errChanged) && !errors.Is(err, yaml.ErrText) {
				w.Raise(notice.ExitInternal)
			}
			continue
		}
		for _, note := range f.notes {
			if note != "" {
				fmt.Fprintln(w.notes, note)
			}
		}
	}
}

// content returns the new content of f.
func (w *Rewriter) content(f *rewrite) ([]byte, error) {
	out, err := w.outcomes(f)
	if err != nil {
		return nil, err
	}
	for _, doc := range f.created {
		if n := len(out); n > 0 && out[n-1] != '\n' {
			out = append(out, '\n')
		}
		if len(bytes.TrimSpace(out)) > 0 && !isBracket(out) {
			out = append(out, "---\n"...)
		}
		out = append(out, doc...)
	}
	return out, nil
}

// outcomes returns the text of f with the outcomes in place of their original objects. It holds one document of a large text at a time,
// unless a document has a defect.
func (w *Rewriter) outcomes(f *rewrite) ([]byte, error) {
	if len(f.outcomes) == 0 {
		return slices.Clone(f.text.Data), nil
	}
	t := &Text{Name: f.text.Name, path: f.text.path, Data: f.text.Data, repeating: f.text.repeating}
	if len(t.Data) >= largeText && !isBracket(t.Data) {
		if out, err := w.parts(f, t.split()); !errors.Is(err, errDefective) {
			return out, err
		}
	}
	t.parseAll()
	return w.parts(f, t.Parts)
}

// errDefective is returned for a part that cannot be parsed alone.
var errDefective = errors.New("a document has a defect")

// parts returns the text of f, which consists of parts, with the outcomes. It parses unparsed parts one at a time, and may then return
// [errDefective].
func (w *Rewriter) parts(f *rewrite, parts []*part) (out []byte, err error) {
	number := 0
	for _, p := range parts {
		parsed := *p
		if parsed.Docs == nil && parsed.Err == nil {
			if parsed.parse(); parsed.Err != nil {
				return nil, errDefective
			}
		}
		data, err := w.part(&parsed, f.outcomes, number)
		if err != nil {
			return nil, err
		}
		if number += len(parsed.Docs); parsed.Err != nil {
			number++ // reading counted it, too
		}
		out = append(out, data...)
	}
	return out, nil
}

// part returns the text of p with the outcomes in place of their original objects. before is the number of documents in front of p.
func (w *Rewriter) part(p *part, outcomes map[int][]outcomeAt, before int) ([]byte, error) {
	var replacements []yaml.Replacement
	var from []notice.Position
	for i, doc := range p.Docs {
		changes := outcomes[before+i+1]
		if len(changes) == 0 {
			continue
		}
		var c change
		for _, o := range changes {
			v, err := value.Parse(o.json)
			if err != nil {
				return nil, fmt.Errorf("%v: %w", o.at, err)
			}
			if was := ValueAt(doc.Value, o.path); !was.Get("metadata", "name").Equal(v.Get("metadata", "name")) {
				return nil, secret.Errorf("%v: the object that was read there is not found again", o.at)
			}
			c.add(o.path, v)
		}
		replacements = append(replacements, yaml.Replacement{Document: doc, Value: c.apply(doc.Value)})
		from = append(from, changes[0].at)
	}
	if len(replacements) == 0 {
		return p.data, nil
	}
	data, reprinted, err := yaml.Rewrite(p.data, replacements...)
	for _, i := range reprinted {
		w.Warn(from[i], "this document is printed anew, without comments, because its text could not be edited")
	}
	return data, err
}
