package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/schemafile"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/upgrade"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/merge"
)

// UpgradePrinter prints what an upgrade of a cluster changes, object by object.
type UpgradePrinter struct {
	out    *bufio.Writer
	format string
	all    bool // whether text lists fields of schemas that come and go
	paint  Painter
	others *results // nil for text and JSON
	whole  upgradeJSON
	shown  []*manifest.Object // of whole.Objects
}

// upgradeJSON is the output of deed plan for two releases in JSON.
type upgradeJSON struct {
	From    string              `json:"from"`
	To      string              `json:"to"`
	Schemas []schemafile.Change `json:"schemas"`
	Objects []*objectUpgrade    `json:"objects"`
	Summary upgradeSummary      `json:"summary"`
	Notices []noticeJSON        `json:"notices"`
}

// objectUpgrade is what an upgrade changes for an object.
type objectUpgrade struct {
	manifest.Ref
	Changes []*upgradeChange `json:"changes"`
}

// upgradeChange is a change in JSON.
type upgradeChange struct {
	Class  upgrade.Class `json:"class"`
	Path   string        `json:"path,omitempty"`
	Line   int           `json:"line,omitempty"`
	Column int           `json:"column,omitempty"`
	From   secret.Value  `json:"from,omitzero"`
	To     secret.Value  `json:"to,omitzero"`
	Owner  *Owner        `json:"owner,omitempty"`
	Gained bool          `json:"gained,omitempty"`
	Reason string        `json:"reason,omitempty"`

	where notice.Position
}

// upgradeSummary counts objects.
type upgradeSummary struct {
	Objects      int `json:"objects"`   // with known outcomes in both releases, and others
	Changed      int `json:"changed"`   // with changes
	Broken       int `json:"broken"`    // whose apply fails after the upgrade only
	NewFields    int `json:"newFields"` // of the schemas
	GoneFields   int `json:"goneFields"`
	ReadProblems int `json:"readProblems"`
}

// NewUpgradePrinter returns a printer to out in the format text, JSON, SARIF or JUnit, for an upgrade between two releases. If all is set,
// text lists the fields of schemas that come and go, too.
func NewUpgradePrinter(out io.Writer, format, from, to string, all bool, paint Painter) *UpgradePrinter {
	return &UpgradePrinter{
		out: bufio.NewWriter(out), format: format, all: all, paint: paint, others: newResults(format, "deed plan"),
		whole: upgradeJSON{From: from, To: to, Schemas: []schemafile.Change{}, Objects: []*objectUpgrade{}},
	}
}

// Schemas takes the differences between the schemas of the objects' kinds.
func (p *UpgradePrinter) Schemas(changes []schemafile.Change) {
	for _, x := range changes {
		p.whole.Schemas = append(p.whole.Schemas, x)
		if x.Comes {
			p.whole.Summary.NewFields++
		}
		if x.Goes {
			p.whole.Summary.GoneFields++
		}
	}
}

// Print takes the changes for an object.
func (p *UpgradePrinter) Print(o *manifest.Object, changes []upgrade.Change) {
	out := &objectUpgrade{Ref: o.Ref(), Changes: []*upgradeChange{}}
	view, broken := o.View(), false
	for _, x := range changes {
		c := &upgradeChange{Class: x.Class, Line: x.Where.Line, Column: x.Where.Column, Gained: x.Gained, Reason: x.Reason, where: x.Where}
		if len(x.Path) > 0 {
			c.Path = view.Path(x.Path)
		}
		c.From, c.To = view.Pair(x.Path, x.From, x.To)
		if x.Manager.Name != "" {
			c.Owner = &owners([]merge.Manager{x.Manager})[0]
		}
		broken = broken || x.Class.Breaks()
		out.Changes = append(out.Changes, c)
	}
	if len(changes) > 0 {
		p.whole.Summary.Changed++
	}
	if broken {
		p.whole.Summary.Broken++
	}
	p.whole.Objects, p.shown = append(p.whole.Objects, out), append(p.shown, o)
}

// Close prints what it took, for the given number of objects, with the notices of the run. It returns the first error of writing.
func (p *UpgradePrinter) Close(objects int, notices []notice.Notice) error {
	s := &p.whole.Summary
	s.Objects, s.ReadProblems = objects, readProblems(notices)
	switch {
	case p.others != nil:
		p.results()
		return errors.Join(p.others.write(p.out, notices), p.out.Flush())
	case p.format == FormatJSON:
		p.whole.Notices = noticesJSON(notices)
		return errors.Join(WriteJSON(p.out, p.whole), p.out.Flush())
	}
	fmt.Fprintf(p.out, "from %s to %s: %s, %d with changes, %d no longer applicable%s; fields of schemas: %d new, %d gone, %d otherwise%s\n",
		p.whole.From, p.whole.To, wording.Plural(objects, "object"), s.Changed, s.Broken, showReadProblems(s.ReadProblems),
		s.NewFields, s.GoneFields, len(p.whole.Schemas)-s.NewFields-s.GoneFields, p.hint())
	for _, x := range p.whole.Schemas {
		if !x.Comes && !x.Goes || p.all {
			writeSchemaChange(p.out, x)
		}
	}
	for i, o := range p.whole.Objects {
		if len(o.Changes) > 0 {
			p.text(p.shown[i], o)
		}
	}
	return p.out.Flush()
}

// hint says how to see what text leaves out.
func (p *UpgradePrinter) hint() string {
	if p.all || p.whole.Summary.NewFields+p.whole.Summary.GoneFields == 0 {
		return ""
	}
	return " (--all lists them)"
}

// text prints the changes for an object.
func (p *UpgradePrinter) text(o *manifest.Object, of *objectUpgrade) {
	fmt.Fprintf(p.out, "%v: %v:\n", o.At(), o)
	for _, c := range of.Changes {
		line := ""
		if c.Line > 0 && c.Line != of.Line {
			line = fmt.Sprintf(", line %d", c.Line)
		}
		fmt.Fprintf(p.out, "  %s  %s%s\n", p.paint.Word(string(c.Class), outcomeWidth), p.whole.describe(c), line)
	}
}

// results turns changes into findings: errors for those that break an apply, and warnings for others.
func (p *UpgradePrinter) results() {
	for i, o := range p.whole.Objects {
		of := p.shown[i]
		p.others.begin(of, looked)
		s := p.others.subject(of.File, of.String())
		for _, c := range o.Changes {
			r := result{rule: string(c.Class), level: levelError, where: c.where, message: p.whole.describe(c)}
			if !c.Class.Breaks() {
				r.level, r.mild = levelWarning, true
			}
			s.found = append(s.found, r)
		}
	}
}

// describe returns a change in a line.
func (u *upgradeJSON) describe(c *upgradeChange) string {
	from, to := secret.Texts(c.From, c.To)
	switch c.Class {
	case upgrade.Unserved:
		return c.Reason
	case upgrade.Served:
		return fmt.Sprintf("%s serves it: %s", u.To, c.Reason)
	case upgrade.Refused:
		return fmt.Sprintf("%s refuses it: %s", u.To, c.Reason)
	case upgrade.Accepted:
		return fmt.Sprintf("%s accepts it, and %s refuses it: %s", u.To, u.From, c.Reason)
	case upgrade.Conflicting:
		return fmt.Sprintf("%s: conflicts with %v in %s, and not in %s", c.Path, c.Owner, u.To, u.From)
	case upgrade.Agreed:
		return fmt.Sprintf("%s: conflicts with %v in %s, and not in %s", c.Path, c.Owner, u.From, u.To)
	case upgrade.Owned:
		in, out := u.From, u.To
		if c.Gained {
			in, out = out, in
		}
		return fmt.Sprintf("%s: owned by %v in %s, and not in %s", c.Path, c.Owner, in, out)
	}
	if c.From.IsAbsent() {
		from = "nothing"
	}
	if c.To.IsAbsent() {
		to = "nothing"
	}
	return strings.TrimPrefix(fmt.Sprintf("%s: %s in %s, %s in %s", c.Path, from, u.From, to, u.To), ": ")
}
