package manifest

import (
	"iter"
	"sync"

	"github.com/deed-project/deed/cmd/internal/jobs"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/value"
)

// Stream yields the objects in texts, including the items of lists, as r reads them. It reports objects that cannot be read when it reaches
// them. Texts are parsed in parts, a few ahead of the loop. The stream drops a part when the loop proceeds: it holds the texts and a few
// objects.
//
// In a text below 64 KiB, a defect makes its whole document unreadable. Larger texts are read in parts, and a defect does not affect the
// items of a list before and behind it.
func (c *Loader) Stream(texts []*Text, r Reader) iter.Seq[*Object] {
	return func(yield func(*Object) bool) {
		for _, o := range c.chunks(texts, r, chunk.read) {
			for _, o := range o {
				if !yield(o) {
					return
				}
			}
		}
	}
}

// Everything is a [Reader] that wants all objects.
var Everything = Reader{Want: func(value.Value) bool { return true }}

// chunk is the unit of parsing: a small text, or a part of a large one.
type chunk struct {
	text    *Text
	parts   []*part
	number  int  // the number of its first document
	several bool // whether it has several documents
}

// content is the result of reading a chunk.
type content struct {
	parsed  []parsed
	several bool
	quick   []ID    // the identities of the parts, if they were not parsed
	parts   []*part // the parts, likewise
	number  int     // the number of the document, likewise
}

// chunks calls read for each chunk of texts, and yields its result with the objects in it.
func (c *Loader) chunks(texts []*Text, r Reader, read func(chunk) content) iter.Seq2[content, []*Object] {
	r.Loader = c
	return func(yield func(content, []*Object) bool) {
		tick, done := c.Progress("reading")
		defer done()
		for k, found := range jobs.Map(c.Jobs, cutAll(texts, r.Repeating), read) {
			r.Text, r.number = k.text, k.number-1
			if k.parts != nil && k.parts[0].item > 0 {
				r.number++ // the first item has counted it
			}
			r.several = found.several
			var objects []*Object
			for _, p := range found.parsed {
				objects = append(objects, r.take(p)...)
			}
			tick()
			if !yield(found, objects) {
				return
			}
		}
	}
}

// cutAll yields the chunks of texts.
func cutAll(texts []*Text, repeating bool) iter.Seq[chunk] {
	return func(yield func(chunk) bool) {
		for _, t := range texts {
			t.repeating = repeating
			parts := t.cut()
			if len(t.Data) < largeText {
				if !yield(chunk{t, parts, 1, false}) {
					return
				}
				continue
			}
			documents := 0
			for _, p := range parts {
				if p.frame == nil || p.item == 0 {
					documents++
				}
			}
			number := 0
			for i, p := range parts {
				if p.frame == nil || p.item == 0 {
					number++
				}
				if !yield(chunk{t, parts[i : i+1], number, documents > 1}) {
					return
				}
			}
		}
	}
}

// read parses k. It parses a small text as a whole if a part has a defect.
func (k chunk) read() content {
	out := content{several: k.several}
	small := len(k.text.Data) < largeText
	documents := 0
	for _, p := range k.parts {
		found := p.read()
		if found.err != nil && small {
			return k.readWhole()
		}
		if p.frame == nil || p.item == 0 {
			documents += max(1, len(found.docs))
		}
		out.parsed = append(out.parsed, found)
	}
	out.several = out.several || documents > 1
	return out
}

// readWhole parses the text of k, without cutting it if possible.
func (k chunk) readWhole() content {
	t := &Text{Name: k.text.Name, path: k.text.path, Data: k.text.Data, repeating: k.text.repeating}
	t.parseAll()
	out := content{several: len(t.Parts) > 1 || len(t.Parts[0].Docs) > 1}
	for _, p := range t.Parts {
		out.parsed = append(out.parsed, parsed{part: p, docs: p.Docs, err: p.Err})
	}
	return out
}

// read parses p. An item that cannot be parsed alone, because it refers to an anchor in another item, is taken from its whole document.
func (p *part) read() parsed {
	docs, err := p.Text.parse(p.data)
	if p.frame == nil || err == nil && len(docs) == 1 && (isBracket(p.data) || docs[0].Value.Len() == 1) {
		if err != nil {
			err = p.inPlace(err)
		}
		return parsed{part: p, docs: docs, err: err}
	}
	whole, wholeErr := p.frame.parse()
	if wholeErr != nil || whole.Value.Get("items").Len() != p.frame.items {
		if err == nil {
			err = &yaml.Error{File: p.Text.Name, Line: p.above + 1, Reason: "this item of a list cannot be told from the next"}
		}
		return parsed{part: p, err: p.inPlace(err)}
	}
	in := &part{Text: p.Text, above: p.frame.doc.above, left: p.frame.doc.left, frame: p.frame, item: p.item}
	return parsed{part: in, docs: []yaml.Document{whole}, whole: true}
}

// frame is the text around the items of a list.
type frame struct {
	doc   *part       // the whole document
	value value.Value // the list without its items
	items int         // the number of items

	once  sync.Once
	whole yaml.Document
	err   error
}

// parse parses the whole document, once.
func (f *frame) parse() (yaml.Document, error) {
	f.once.Do(func() {
		var docs []yaml.Document
		if docs, f.err = f.doc.Text.parse(f.doc.data); f.err == nil {
			f.whole = docs[0]
		}
	})
	return f.whole, f.err
}
