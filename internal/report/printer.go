package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

const (
	FormatYAML = "yaml"
	FormatJSON = "json"
)

// Printer writes objects: YAML as documents with --- in between; JSON as it is if there is to be one object, and else as one
// list of them. Both are as kubectl prints them.
type Printer struct {
	format      string // formatYAML or formatJSON
	showManaged bool
	out         *bufio.Writer
	list        bool // JSON is a list, however many objects there are in the end
	count       int
	items       []value.Value // what the list consists of so far
	buf         []byte
}

// NewPrinter returns the printer that writes to out.
func NewPrinter(out io.Writer, format string, showManaged, list bool) *Printer {
	return &Printer{format: format, showManaged: showManaged, out: bufio.NewWriter(out), list: list}
}

// Print writes o. Errors of writing show in close.
func (p *Printer) Print(o managedfields.Object) error {
	if !p.showManaged {
		o.Entries = nil
	}
	v, err := o.Value()
	if err != nil {
		return err
	}
	p.count++
	switch {
	case p.format == FormatYAML:
		if p.count > 1 {
			p.out.WriteString("---\n")
		}
		p.buf = yaml.Append(p.buf[:0], v)
		p.out.Write(p.buf)
	case p.list:
		p.items = append(p.items, v)
	default:
		return p.json(v)
	}
	return nil
}

func (p *Printer) json(v value.Value) error {
	p.buf = v.AppendJSON(p.buf[:0])
	var indented bytes.Buffer
	if err := json.Indent(&indented, p.buf, "", "    "); err != nil {
		return err
	}
	indented.WriteByte('\n')
	p.out.Write(indented.Bytes())
	return nil
}

// Close writes what is not written yet. It returns the first error of writing.
func (p *Printer) Close() error {
	if p.format == FormatJSON && p.list && p.count > 0 {
		list := value.Object(
			value.Member{Name: "apiVersion", Value: value.String("v1")},
			value.Member{Name: "items", Value: value.List(p.items...)},
			value.Member{Name: "kind", Value: value.String("List")},
		)
		if err := p.json(list); err != nil {
			return err
		}
	}
	return p.out.Flush()
}
