package report

import (
	"bufio"
	"io"
	"strings"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/managedfields"
)

// The output formats.
const (
	FormatText = "text"
	FormatYAML = "yaml"
	FormatJSON = "json"
	FormatHTML = "html"
	FormatName = "name"
)

// Printer writes objects one by one, with secrets, because the user asked for the objects. YAML is written as documents with --- in
// between. JSON is one object if one is expected, and else one list. Names are written alone. All formats equal those of kubectl.
type Printer struct {
	format      string // FormatYAML, FormatJSON or FormatName
	showManaged bool
	out         *bufio.Writer
	list        bool // JSON is a list, whatever the number of objects
	count       int
	buf         []byte
}

// NewPrinter returns the printer that writes to out.
func NewPrinter(out io.Writer, format string, showManaged, list bool) *Printer {
	return &Printer{format: format, showManaged: showManaged, out: bufio.NewWriter(out), list: list}
}

// The text around the items of a list in JSON.
const (
	listHead = "{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n        "
	listTail = "\n    ],\n    \"kind\": \"List\"\n}\n"
)

// Print writes o. Close returns errors of writing.
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

// print writes v, an object or its substitute.
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
	p.out.Flush() // print at once; Close returns the error
	return err
}

// NameOf returns the name that kubectl -o name prints for o, such as deployment.apps/web.
func NameOf(o managedfields.Object) string {
	gvk := o.GVK()
	kind := strings.ToLower(gvk.Kind)
	if gvk.Group != "" {
		kind += "." + gvk.Group
	}
	return kind + "/" + manifest.IDOf(o).Name
}

// json writes v piece by piece. Lines inside lists and objects are indented by 4 more than indent.
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

// compact writes v, which is empty or a scalar.
func (p *Printer) compact(v secret.Value) {
	p.buf = v.AppendJSON(p.buf[:0])
	p.out.Write(p.buf)
}

// Close ends the output. It returns the first error of writing.
func (p *Printer) Close() error {
	if p.format == FormatJSON && p.list && p.count > 0 {
		p.out.WriteString(listTail)
	}
	return p.out.Flush()
}
