package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/deed-project/deed/internal/blame"
	"github.com/deed-project/deed/internal/wording"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
)

// claim is one owner of a line as it is shown.
type claim struct {
	owner ownership.Owner
	text  string
}

// nobody stands for the owners of what has none.
const nobody = "(nobody)"

// claims returns who is to be shown in front of line. There may be none in lines that consist of what is below them.
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
	comments bool         // whether the owners come behind the lines, as comments of YAML
	several  bool         // whether each object is named
	list     *jsonList    // nil for what is no JSON
	page     *pageBuilder // of all objects; nil for what is no HTML
	count    int
}

// NewBlamePrinter returns the printer that writes to out in a format: FormatText, FormatYAML, FormatJSON or FormatHTML. several
// says that there is more than one object. All formats need the room of one object at a time.
func NewBlamePrinter(out io.Writer, format string, names OwnerNames, paint Painter, several bool) *BlamePrinter {
	p := &BlamePrinter{out: bufio.NewWriter(out), names: names, paint: paint, several: several}
	switch format {
	case FormatYAML:
		p.comments = true
	case FormatHTML:
		p.page = &pageBuilder{out: p.out, names: names, numbers: map[merge.Manager]int{}}
		if several {
			p.page.title = pageTitle
		}
	case FormatJSON:
		p.list = &jsonList{out: p.out}
	}
	return p
}

// between stands between owners of the same line, and ground between them and the line.
const (
	between = " + "
	ground  = " │ "
)

// Print prints the lines of one object. Errors of writing show in Close.
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

// Close prints what is not printed yet. It returns the first error of writing.
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

// maxGround is how wide the owners in front of lines may be before some go to a line of their own.
const maxGround = 64

// maxName is how wide the name of an owner in front of a line may be. Wider ones stand above the object, once, with a number that
// stands for them.
const maxName = 48

// numbered gives wide owners in claims numbers in place of their names, and says above what new ones are.
func (p *BlamePrinter) numbered(claims []claim, numbers map[string]int) []claim {
	for i, c := range claims {
		name := p.names.name(c.owner)
		if wording.Width(name) <= maxName {
			continue
		}
		number, known := numbers[name]
		if !known {
			number = len(numbers) + 1
			numbers[name] = number
			fmt.Fprintf(p.out, "[%d] is %s\n", number, p.paint.Paint(ownerStyle(c.owner.Index), name))
		}
		claims[i].text = strings.Replace(c.text, name, fmt.Sprintf("[%d]", number), 1)
	}
	return claims
}

// front prints the lines with their owners in front.
func (p *BlamePrinter) front(lines []blame.Line) {
	numbers := map[string]int{}
	rows := make([][][]claim, len(lines)) // for each line the rows of owners
	unowned := make([]bool, len(lines))
	width := 0
	for i, line := range lines {
		var claims []claim
		claims, unowned[i] = p.names.claims(line)
		if unowned[i] {
			width = max(width, len(nobody))
		}
		rows[i] = wrap(p.numbered(claims, numbers))
		for _, row := range rows[i] {
			width = max(width, rowWidth(row))
		}
	}
	var last [][]claim
	nobodys := false
	for i, line := range lines {
		if line.Continues == 0 {
			last, nobodys = rows[i], unowned[i]
		}
		p.line(last, nobodys, width, line.Text)
	}
}

// wrap cuts claims into rows.
func wrap(claims []claim) [][]claim {
	var rows [][]claim
	for len(claims) > 0 {
		n := 1
		for n < len(claims) && rowWidth(claims[:n+1]) <= maxGround {
			n++
		}
		rows, claims = append(rows, claims[:n]), claims[n:]
	}
	return rows
}

func rowWidth(row []claim) int {
	width := 0
	for i, c := range row {
		if i > 0 {
			width += len(between)
		}
		width += wording.Width(c.text)
	}
	return width
}

func (p *BlamePrinter) line(rows [][]claim, isNobodys bool, width int, text string) {
	if len(rows) == 0 {
		owners := ""
		if isNobodys {
			owners = nobody
		}
		p.out.WriteString(p.paint.Paint(Faint, owners) + strings.Repeat(" ", width-len(owners)) + ground + text + "\n")
		return
	}
	for i, row := range rows {
		p.out.WriteString(p.row(row) + strings.Repeat(" ", width-rowWidth(row)))
		if i == 0 {
			p.out.WriteString(ground + text + "\n")
		} else {
			p.out.WriteString(strings.TrimRight(ground, " ") + "\n")
		}
	}
}

// row returns the owners in colors.
func (p *BlamePrinter) row(row []claim) string {
	texts := make([]string, len(row))
	for i, c := range row {
		texts[i] = p.paint.Paint(ownerStyle(c.owner.Index), c.text)
	}
	return strings.Join(texts, between)
}

// maxAligned is the column that comments are aligned in at most.
const maxAligned = 60

// behind prints the lines with their owners behind, as comments.
func (p *BlamePrinter) behind(lines []blame.Line) {
	column := 0
	for _, line := range lines {
		column = max(column, min(maxAligned, wording.Width(line.Text)))
	}
	for i := 0; i < len(lines); {
		// A text of several lines has its comment in the last of them, or, if it is a block, in the first.
		end := i + 1
		for end < len(lines) && lines[end].Continues > 0 {
			end++
		}
		at := end - 1
		if lines[i].Block {
			at = i
		}
		claims, isNobodys := p.names.claims(lines[i])
		for j := i; j < end; j++ {
			p.out.WriteString(lines[j].Text)
			if j == at {
				p.comment(claims, isNobodys, column-wording.Width(lines[j].Text))
			}
			p.out.WriteString("\n")
		}
		i = end
	}
}

func (p *BlamePrinter) comment(claims []claim, isNobodys bool, indent int) {
	text := p.row(claims)
	if isNobodys {
		text = p.paint.Paint(Faint, nobody)
	}
	if text != "" {
		p.out.WriteString(strings.Repeat(" ", max(0, indent)) + " # " + text)
	}
}
