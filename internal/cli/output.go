package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// choice is a flag that has one of a few values.
type choice struct {
	value   string
	allowed []string
}

// String implements [pflag.Value].
func (c *choice) String() string { return c.value }

// Type implements [pflag.Value].
func (c *choice) Type() string { return strings.Join(c.allowed, "|") }

// Set implements [pflag.Value].
func (c *choice) Set(text string) error {
	for _, a := range c.allowed {
		if text == a {
			c.value = text
			return nil
		}
	}
	return fmt.Errorf("must be one of %s", strings.Join(c.allowed, ", "))
}

const (
	formatYAML = "yaml"
	formatJSON = "json"
)

// outputFlags say how objects are printed.
type outputFlags struct {
	format      choice
	showManaged bool
}

func (f *outputFlags) register(flags *pflag.FlagSet) {
	f.format = choice{formatYAML, []string{formatYAML, formatJSON}}
	flags.VarP(&f.format, "output", "o", "output format")
	flags.BoolVar(&f.showManaged, "show-managed-fields", true, "print metadata.managedFields")
}

// printer writes objects: YAML as documents with --- in between; JSON as it is if there is to be one object, and else as one
// list of them. Both are as kubectl prints them.
type printer struct {
	format      string // formatYAML or formatJSON
	showManaged bool
	out         *bufio.Writer
	list        bool // JSON is a list, however many objects there are in the end
	count       int
	items       []value.Value // what the list consists of so far
	buf         []byte
}

func (f outputFlags) printer(out io.Writer, list bool) *printer {
	return newPrinter(out, f.format.value, f.showManaged, list)
}

// newPrinter returns the printer that writes to out.
func newPrinter(out io.Writer, format string, showManaged, list bool) *printer {
	return &printer{format: format, showManaged: showManaged, out: bufio.NewWriter(out), list: list}
}

// print writes o. Errors of writing show in close.
func (p *printer) print(o managedfields.Object) error {
	if !p.showManaged {
		o.Entries = nil
	}
	v, err := o.Value()
	if err != nil {
		return err
	}
	p.count++
	switch {
	case p.format == formatYAML:
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

func (p *printer) json(v value.Value) error {
	p.buf = v.AppendJSON(p.buf[:0])
	var indented bytes.Buffer
	if err := json.Indent(&indented, p.buf, "", "    "); err != nil {
		return err
	}
	indented.WriteByte('\n')
	p.out.Write(indented.Bytes())
	return nil
}

// close writes what is not written yet. It returns the first error of writing.
func (p *printer) close() error {
	if p.format == formatJSON && p.list && p.count > 0 {
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
