package report

import (
	"bufio"
	"slices"
	"strings"
	"unicode/utf8"

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
func (n OwnerNames) claims(line Line) (claims []claim, isNobodys bool) {
	var shown []int
	for i, p := range slices.Backward(line.parts) {
		for _, o := range p.owners {
			if slices.Contains(shown, o.Index) {
				continue
			}
			shown = append(shown, o.Index)
			text := n.name(o)
			if p.through != nil {
				text = "^" + text
			}
			if i < len(line.parts)-1 {
				text += " (" + p.kind + ")"
			}
			claims = append(claims, claim{o, text})
		}
		isNobodys = isNobodys || !p.isContainer()
	}
	return claims, isNobodys && len(claims) == 0
}

// BlamePrinter prints objects as lines of text.
type BlamePrinter struct {
	Out      *bufio.Writer
	Names    OwnerNames
	Paint    Painter
	Comments bool // whether the owners come behind the lines, as comments of YAML
}

// between stands between owners of the same line, and ground between them and the line.
const (
	between = " + "
	ground  = " │ "
)

// All prints the objects. several says that there are more in the input than those.
func (p *BlamePrinter) All(objects []Blamed, several bool) {
	for i, o := range objects {
		if i > 0 {
			p.Out.WriteString("---\n")
		}
		if several {
			p.Out.WriteString(p.Paint.Paint(strong, "# "+o.At().String()+": "+o.Id.String()) + "\n")
		}
		p.Names.version = o.GVK().APIVersion()
		if p.Comments {
			p.behind(o.Lines)
		} else {
			p.front(o.Lines)
		}
	}
}

// maxGround is how wide the owners in front of lines may be before some go to a line of their own.
const maxGround = 64

// front prints the lines with their owners in front.
func (p *BlamePrinter) front(lines []Line) {
	rows := make([][][]claim, len(lines)) // for each line the rows of owners
	unowned := make([]bool, len(lines))
	width := 0
	for i, line := range lines {
		var claims []claim
		claims, unowned[i] = p.Names.claims(line)
		if unowned[i] {
			width = max(width, len(nobody))
		}
		rows[i] = wrap(claims)
		for _, row := range rows[i] {
			width = max(width, rowWidth(row))
		}
	}
	var last [][]claim
	nobodys := false
	for i, line := range lines {
		if line.continues == 0 {
			last, nobodys = rows[i], unowned[i]
		}
		p.line(last, nobodys, width, line.text)
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
		width += utf8.RuneCountInString(c.text)
	}
	return width
}

func (p *BlamePrinter) line(rows [][]claim, isNobodys bool, width int, text string) {
	if len(rows) == 0 {
		owners := ""
		if isNobodys {
			owners = nobody
		}
		p.Out.WriteString(p.Paint.Paint(Faint, owners) + strings.Repeat(" ", width-len(owners)) + ground + text + "\n")
		return
	}
	for i, row := range rows {
		p.Out.WriteString(p.row(row) + strings.Repeat(" ", width-rowWidth(row)))
		if i == 0 {
			p.Out.WriteString(ground + text + "\n")
		} else {
			p.Out.WriteString(strings.TrimRight(ground, " ") + "\n")
		}
	}
}

// row returns the owners in colors.
func (p *BlamePrinter) row(row []claim) string {
	texts := make([]string, len(row))
	for i, c := range row {
		texts[i] = p.Paint.Paint(ownerStyle(c.owner.Index), c.text)
	}
	return strings.Join(texts, between)
}

// maxAligned is the column that comments are aligned in at most.
const maxAligned = 60

// behind prints the lines with their owners behind, as comments.
func (p *BlamePrinter) behind(lines []Line) {
	column := 0
	for _, line := range lines {
		column = max(column, min(maxAligned, utf8.RuneCountInString(line.text)))
	}
	for i := 0; i < len(lines); {
		// A text of several lines has its comment in the last of them, or, if it is a block, in the first.
		end := i + 1
		for end < len(lines) && lines[end].continues > 0 {
			end++
		}
		at := end - 1
		if lines[i].block {
			at = i
		}
		claims, isNobodys := p.Names.claims(lines[i])
		for j := i; j < end; j++ {
			p.Out.WriteString(lines[j].text)
			if j == at {
				p.comment(claims, isNobodys, column-utf8.RuneCountInString(lines[j].text))
			}
			p.Out.WriteString("\n")
		}
		i = end
	}
}

func (p *BlamePrinter) comment(claims []claim, isNobodys bool, indent int) {
	text := p.row(claims)
	if isNobodys {
		text = p.Paint.Paint(Faint, nobody)
	}
	if text != "" {
		p.Out.WriteString(strings.Repeat(" ", max(0, indent)) + " # " + text)
	}
}
