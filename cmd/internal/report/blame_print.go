package report

import (
	"bufio"
	"errors"
	"io"
	"slices"

	"github.com/deed-project/deed/cmd/internal/blame"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
)

// claim is the text of one owner of a line.
type claim struct {
	owner ownership.Owner
	text  string
}

// nobody is the text for lines without owners.
const nobody = "(nobody)"

// claims returns the owners to show for line. It may return none for lines that only open a list or object.
func (n OwnerNames) claims(line blame.Line) (claims []claim, isNobodys bool) {
	var shown []int
	for i, p := range slices.Backward(line.Parts) {
		for _, o := range p.Owners {
			if slices.Contains(shown, o.Index) {
				continue
			}
			shown = append(shown, o.Index)
			text := n.name(o)
			if p.Through != nil {
				text = "^" + text
			}
			if i < len(line.Parts)-1 {
				text += " (" + p.Kind + ")"
			}
			claims = append(claims, claim{o, text})
		}
		isNobodys = isNobodys || !p.IsContainer()
	}
	return claims, isNobodys && len(claims) == 0
}

// BlamePrinter prints objects one by one, with their owners.
type BlamePrinter struct {
	out      *bufio.Writer
	names    OwnerNames
	paint    Painter
	comments bool         // whether the owners stand behind the lines, as YAML comments
	several  bool         // whether to name each object
	list     *jsonList    // nil unless the format is JSON
	page     *pageBuilder // the page of all objects; nil unless the format is HTML
	count    int
}

// NewBlamePrinter returns a printer to out in the format FormatText, FormatYAML, FormatJSON or FormatHTML. page is the template for
// FormatHTML, and may be nil for other formats. several says that there is more than one object. In all formats the printer holds only one object at a time.
func NewBlamePrinter(out io.Writer, format string, names OwnerNames, paint Painter, page PageTemplate, several bool) *BlamePrinter {
	p := &BlamePrinter{out: bufio.NewWriter(out), names: names, paint: paint, several: several}
	switch format {
	case FormatYAML:
		p.comments = true
	case FormatHTML:
		p.page = &pageBuilder{out: p.out, execute: page, names: names, numbers: map[merge.Manager]int{}}
		if several {
			p.page.title = pageTitle
		}
	case FormatJSON:
		p.list = &jsonList{out: p.out}
	}
	return p
}

// between separates owners of the same line, and ground separates them from the line.
const (
	between = " + "
	ground  = " │ "
)

// Print prints the lines of one object. Close returns errors of writing.
func (p *BlamePrinter) Print(o blame.Object) {
	switch {
	case p.page != nil:
		p.page.print(o)
	case p.list != nil:
		p.list.add(blameJSON(o))
	default:
		p.text(o)
	}
	p.out.Flush()
}

// Close ends the output. It returns the first error of writing.
func (p *BlamePrinter) Close() error {
	var err error
	switch {
	case p.page != nil:
		err = p.page.close()
	case p.list != nil:
		p.list.end()
		p.out.WriteString("\n")
		err = p.list.err
	}
	return errors.Join(err, p.out.Flush())
}

// text prints the lines of o as text.
func (p *BlamePrinter) text(o blame.Object) {
	if p.count++; p.count > 1 {
		p.out.WriteString("---\n")
	}
	if p.several {
		p.out.WriteString(p.paint.Paint(strong, "# "+o.At().String()+": "+o.Id.String()) + "\n")
	}
	p.names.version = o.GVK().APIVersion()
	if p.comments {
		p.behind(o.Lines)
	} else {
		p.front(o.Lines)
	}
}
