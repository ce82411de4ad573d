package cli

import (
	"bufio"
	"io"
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
func (n ownerNames) claims(line blameLine) (claims []claim, isNobodys bool) {
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

// blamePrinter prints objects as lines of text.
type blamePrinter struct {
	out      *bufio.Writer
	names    ownerNames
	paint    painter
	comments bool // whether the owners come behind the lines, as comments of YAML
}

// between stands between owners of the same line, and ground between them and the line.
const (
	between = " + "
	ground  = " │ "
)

func (p *blamePrinter) all(objects []blamed, several bool) {
	for i, o := range objects {
		if i > 0 {
			p.out.WriteString("---\n")
		}
		if several {
			p.out.WriteString(p.paint.paint(strong, "# "+o.at().String()+": "+o.id.String()) + "\n")
		}
		p.names.version = o.GVK().APIVersion()
		if p.comments {
			p.behind(o.lines)
		} else {
			p.front(o.lines)
		}
	}
}

// maxGround is how wide the owners in front of lines may be before some go to a line of their own.
const maxGround = 64

// front prints the lines with their owners in front.
func (p *blamePrinter) front(lines []blameLine) {
	rows := make([][][]claim, len(lines)) // for each line the rows of owners
	unowned := make([]bool, len(lines))
	width := 0
	for i, line := range lines {
		var claims []claim
		claims, unowned[i] = p.names.claims(line)
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

func (p *blamePrinter) line(rows [][]claim, isNobodys bool, width int, text string) {
	if len(rows) == 0 {
		owners := ""
		if isNobodys {
			owners = nobody
		}
		p.out.WriteString(p.paint.paint(faint, owners) + strings.Repeat(" ", width-len(owners)) + ground + text + "\n")
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
func (p *blamePrinter) row(row []claim) string {
	texts := make([]string, len(row))
	for i, c := range row {
		texts[i] = p.paint.paint(ownerStyle(c.owner.Index), c.text)
	}
	return strings.Join(texts, between)
}

// maxAligned is the column that comments are aligned in at most.
const maxAligned = 60

// behind prints the lines with their owners behind, as comments.
func (p *blamePrinter) behind(lines []blameLine) {
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
		claims, isNobodys := p.names.claims(lines[i])
		for j := i; j < end; j++ {
			p.out.WriteString(lines[j].text)
			if j == at {
				p.comment(claims, isNobodys, column-utf8.RuneCountInString(lines[j].text))
			}
			p.out.WriteString("\n")
		}
		i = end
	}
}

func (p *blamePrinter) comment(claims []claim, isNobodys bool, indent int) {
	text := p.row(claims)
	if isNobodys {
		text = p.paint.paint(faint, nobody)
	}
	if text != "" {
		p.out.WriteString(strings.Repeat(" ", max(0, indent)) + " # " + text)
	}
}

// objectJSON says which object is meant and where it was found.
type objectJSON struct {
	File       string `json:"file"`
	Document   int    `json:"document"`
	Line       int    `json:"line"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

func (o *object) json() objectJSON {
	return objectJSON{o.file, o.number, o.at().line, o.GVK().APIVersion(), o.id.kind, o.id.namespace, o.id.name}
}

type blamedJSON struct {
	objectJSON
	Lines []blameLineJSON `json:"lines"`
}

type blameLineJSON struct {
	Text      string          `json:"text"`
	Continues bool            `json:"continues,omitempty"`
	Parts     []blamePartJSON `json:"parts,omitempty"`
}

type blamePartJSON struct {
	Path    string      `json:"path"`
	Line    int         `json:"line"` // of the file
	Kind    string      `json:"kind"`
	Owners  []ownerJSON `json:"owners"`
	Through string      `json:"through,omitempty"`
}

// blameJSON writes objects with all parts of all lines.
func blameJSON(out io.Writer, objects []blamed) error {
	all := []blamedJSON{}
	for _, o := range objects {
		b := blamedJSON{objectJSON: o.json()}
		for _, line := range o.lines {
			l := blameLineJSON{Text: line.text, Continues: line.continues > 0}
			for _, p := range line.parts {
				part := blamePartJSON{Path: p.path.Text(), Line: p.at.line, Kind: p.kind, Owners: ownersJSON(p.owners)}
				if p.through != nil {
					part.Through = p.through.Text()
				}
				l.Parts = append(l.Parts, part)
			}
			b.Lines = append(b.Lines, l)
		}
		all = append(all, b)
	}
	return writeJSON(out, all)
}
