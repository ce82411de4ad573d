package report

import (
	"cmp"
	"fmt"
	"io"

	"github.com/deed-project/deed/cmd/internal/blame"
	"github.com/deed-project/deed/cmd/internal/entries"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
)

// pageHead is the data of a [PageTemplate] for the head, and pageObject its data for each object.
type pageHead struct {
	Title  string
	Colors []pageColor
}

type pageColor struct{ Number, Hue int }

type pageObject struct {
	Name        string        `json:"name"`
	Where       string        `json:"where"`
	Size        string        `json:"size"`
	ManagedSize string        `json:"managedSize"`
	Managers    []pageManager `json:"managers"`
	Nobodys     int           `json:"nobodys"`
	Lines       []pageLine    `json:"lines"`
}

type pageManager struct {
	Number    int    `json:"number"` // of its color
	Hue       int    `json:"hue"`    // of its color
	Name      string `json:"name"`
	Operation string `json:"operation"`
	Version   string `json:"version"`
	Time      string `json:"time"`
	Lines     int    `json:"lines"`
	Bytes     int    `json:"bytes"`
	Share     string `json:"share"`
}

type pageLine struct {
	At      int         `json:"at"`
	Text    string      `json:"text"`
	Path    string      `json:"path"`
	Nobodys bool        `json:"nobodys"`
	Owners  []pageOwner `json:"owners"`
}

// More returns the number of owners besides the first.
func (l pageLine) More() int { return max(0, len(l.Owners)-1) }

type pageOwner struct {
	Number int    `json:"number"` // the number of its color
	Hue    int    `json:"hue"`
	Name   string `json:"name"`
	Long   string `json:"long"`
}

// maxColors is the number of colors. The head of the page defines them before the number of managers is known.
const maxColors = 48

// hue returns the hue of the color with the given number, as distant as possible from the hues before.
func hue(number int) int { return (210 + number*13750/100) % 360 }

// PageTemplate writes a part of a page: head, object or tail. Package page has it. It stands apart because templates are large.
type PageTemplate func(out io.Writer, part string, data any) error

// pageBuilder writes a page, one object at a time. A manager has the same color in all objects. Managers share a color if none is left.
type pageBuilder struct {
	out     io.Writer
	execute PageTemplate
	names   OwnerNames
	title   string // empty for the title of the first object
	numbers map[merge.Manager]int
	begun   bool
	err     error // the first error
}

// head writes the head of the page, once.
func (b *pageBuilder) head(title string) {
	if b.begun {
		return
	}
	b.begun = true
	p := pageHead{Title: cmp.Or(b.title, title)}
	for i := range maxColors {
		p.Colors = append(p.Colors, pageColor{i, hue(i)})
	}
	b.write("head", p)
}

// print writes one object.
func (b *pageBuilder) print(o blame.Object) {
	b.head(o.Id.String())
	b.write("object", b.object(o))
}

// close ends the page. It returns the first error.
func (b *pageBuilder) close() error {
	b.head(pageTitle)
	b.write("tail", nil)
	return b.err
}

// BlamePages makes the data of pages about objects. A manager has the same color in all of them.
type BlamePages struct{ builder pageBuilder }

// NewBlamePages returns a maker of data in which owners are called as names has them.
func NewBlamePages(names OwnerNames) *BlamePages {
	return &BlamePages{builder: pageBuilder{names: names, numbers: map[merge.Manager]int{}}}
}

// Object returns what a page shows of o. It becomes JSON.
func (p *BlamePages) Object(o blame.Object) any { return p.builder.object(o) }

// pageTitle is the title of a page about several objects.
const pageTitle = "Who owns what"

func (b *pageBuilder) write(name string, data any) {
	if err := b.execute(b.out, name, data); b.err == nil {
		b.err = err
	}
}

func (b *pageBuilder) number(m merge.Manager) int {
	n, ok := b.numbers[m]
	if !ok {
		n = len(b.numbers) % maxColors
		b.numbers[m] = n
	}
	return n
}

func (b *pageBuilder) object(o blame.Object) pageObject {
	b.names.version = o.GVK().APIVersion()
	sizes := entries.SizesOf(o.Object)
	p := pageObject{
		Name: o.Id.String(), Where: o.At().String(), Size: bytesText(sizes.Object), ManagedSize: share(sizes.Managed, sizes.Object),
	}
	for i, owner := range manifest.OwnersOf(o.Object) {
		p.Managers = append(p.Managers, pageManager{
			Number: b.number(owner.Manager), Hue: hue(b.number(owner.Manager)), Name: wording.Manager(owner.Manager.Name), Operation: operation(owner.Manager),
			Version: owner.APIVersion, Time: b.time(owner), Bytes: sizes.Entries[i], Share: share(sizes.Entries[i], sizes.Object),
		})
	}
	var last pageLine
	for _, line := range o.Lines {
		l := b.line(o.View(), line)
		if line.Continues > 0 {
			l.Path, l.Owners, l.Nobodys = last.Path, last.Owners, last.Nobodys
		}
		l.At, last = line.Number, l
		p.Lines = append(p.Lines, l)
		if line.Continues > 0 {
			continue
		}
		claims, isNobodys := b.names.claims(line)
		for _, c := range claims {
			p.Managers[c.owner.Index].Lines++
		}
		if isNobodys {
			p.Nobodys++
		}
	}
	return p
}

// time returns the time of the last change of owner in the chosen notation.
func (b *pageBuilder) time(owner ownership.Owner) string {
	switch {
	case owner.Time.IsZero() || b.names.Times == TimeNone:
		return ""
	case b.names.Times == TimeFull:
		return fullTime(owner.Time)
	}
	return age(b.names.Now.Sub(owner.Time)) + " ago"
}

func (b *pageBuilder) line(view secret.View, line blame.Line) pageLine {
	l := pageLine{Text: line.Text}
	if len(line.Parts) == 0 {
		return l
	}
	l.Path = view.Path(line.Parts[len(line.Parts)-1].Path)
	var claims []claim
	claims, l.Nobodys = b.names.claims(line)
	for _, c := range claims {
		n := b.number(c.owner.Manager)
		l.Owners = append(l.Owners, pageOwner{n, hue(n), wording.Manager(c.owner.Manager.Name), c.text})
	}
	return l
}

// share returns part as a percentage of whole.
func share(part, whole int) string {
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(max(1, whole)))
}

// bytesText returns n bytes as text.
func bytesText(n int) string {
	if n < 1000 {
		return wording.Plural(n, "byte")
	}
	return fmt.Sprintf("%.1f kB", float64(n)/1000)
}
