package report

import (
	"bufio"
	"io"
	"strings"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/managedfields"
)

// The formats of output.
const (
	FormatText = "text"
	FormatYAML = "yaml"
	FormatJSON = "json"
	FormatHTML = "html"
	FormatName = "name"
)

// Printer writes objects one by one, as they are, because they are what was asked for: YAML as documents with --- in between; JSON as it is if there
// is to be one object, and else as one list of them; or names alone. All are as kubectl prints
// them.
type Printer struct {
	format      string // FormatYAML, FormatJSON or FormatName
	showManaged bool
	out         *bufio.Writer
	list        bool // JSON is a list, however many objects there are in the end
	count       int
	buf         []byte
}

// NewPrinter returns the printer that writes to out.
func NewPrinter(out io.Writer, format string, showManaged, list bool) *Printer {
	return &Printer{format: format, showManaged: showManaged, out: bufio.NewWriter(out), list: list}
}

// What stands around the items of a list in JSON.
const (
	listHead = "{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n        "
	listTail = "\n    ],\n    \"kind\": \"List\"\n}\n"
)

// Print writes o. Errors of writing show in Close.
func (p *Printer) Print(o managedfields.Object) error {
	if !p.showManaged {
		o.Entries = nil
	}
	v, err := secret.Product(o)
	if err != nil {
		return err
	}
	if p.format == FormatName {
		p.out.WriteString(NameOf(o) + "\n")
		p.out.Flush()
		return nil
	}
	return p.print(v)
}

// print writes v, an object or what stands for one.
func (p *Printer) print(v secret.Value) (err error) {
	p.count++
	switch {
	case p.format == FormatYAML:
		if p.count > 1 {
			p.out.WriteString("---\n")
		}
		err = v.WriteYAML(p.out)
	case p.list && p.count == 1:
		p.out.WriteString(listHead)
		p.json(v, "        ")
	case p.list:
		p.out.WriteString(",\n        ")
		p.json(v, "        ")
	default:
		p.json(v, "")
		p.out.WriteString("\n")
	}
	p.out.Flush() // what is known is shown; Close returns the error
	return err
}

// NameOf returns what kubectl -o name calls o, such as deployment.apps/web.
func NameOf(o managedfields.Object) string {
	gvk := o.GVK()
	kind := strings.ToLower(gvk.Kind)
	if gvk.Group != "" {
		kind += "." + gvk.Group
	}
	return kind + "/" + manifest.IDOf(o).Name
}

// json writes v piece by piece, each list and object in lines that are indented by 4 more than
// indent.
func (p *Printer) json(v secret.Value, indent string) {
	open, close := "{", "}"
	if v.IsList() {
		open, close = "[", "]"
	}
	if v.Len() == 0 {
		p.compact(v)
		return
	}
	inner := indent + "    "
	p.out.WriteString(open)
	for i := range v.Len() {
		if i > 0 {
			p.out.WriteString(",")
		}
		p.out.WriteString("\n")
		p.out.WriteString(inner)
		if v.IsList() {
			p.json(v.Item(i), inner)
			continue
		}
		_, member := v.Member(i)
		p.buf = v.AppendName(p.buf[:0], i)
		p.out.Write(p.buf)
		p.out.WriteString(": ")
		p.json(member, inner)
	}
	p.out.WriteString("\n")
	p.out.WriteString(indent)
	p.out.WriteString(close)
}

// compact writes v, which has nothing inside.
func (p *Printer) compact(v secret.Value) {
	p.buf = v.AppendJSON(p.buf[:0])
	p.out.Write(p.buf)
}

// Close writes what is not written yet. It returns the first error of writing.
func (p *Printer) Close() error {
	if p.format == FormatJSON && p.list && p.count > 0 {
		p.out.WriteString(listTail)
	}
	return p.out.Flush()
}
