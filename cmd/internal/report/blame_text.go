package report

import (
	"fmt"
	"strings"

	"github.com/deed-project/deed/cmd/internal/blame"
	"github.com/deed-project/deed/cmd/internal/wording"
)

// maxGround is the maximum width of the owners in front of a line before some go to a separate line.
const maxGround = 64

// maxName is the maximum width of an owner in front of a line. Wider names are listed once above the object, with a number that replaces
// them.
const maxName = 48

// numbered replaces wide names in claims by numbers, and prints new numbers with their names above the object.
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

// wrap divides claims into rows.
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

// row returns the owners in their colors.
func (p *BlamePrinter) row(row []claim) string {
	texts := make([]string, len(row))
	for i, c := range row {
		texts[i] = p.paint.Paint(ownerStyle(c.owner.Index), c.text)
	}
	return strings.Join(texts, between)
}

// maxAligned is the last column in which comments are aligned.
const maxAligned = 60

// behind prints the lines with their owners behind, as comments.
func (p *BlamePrinter) behind(lines []blame.Line) {
	column := 0
	for _, line := range lines {
		column = max(column, min(maxAligned, wording.Width(line.Text)))
	}
	for i := 0; i < len(lines); {
		// A text of several lines has its comment in the last line. A block has it in the first line.
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
