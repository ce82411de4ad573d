package report

import (
	"github.com/deed-project/deed/internal/manifest"
)

type blamedJSON struct {
	manifest.Ref
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

// blameJSON returns o with all parts of all lines.
func blameJSON(o Blamed) blamedJSON {
	b := blamedJSON{Ref: o.Ref()}
	for _, line := range o.Lines {
		l := blameLineJSON{Text: line.text, Continues: line.continues > 0}
		for _, p := range line.parts {
			part := blamePartJSON{Path: p.path.Text(), Line: p.at.Line, Kind: p.kind, Owners: ownersJSON(p.owners)}
			if p.through != nil {
				part.Through = p.through.Text()
			}
			l.Parts = append(l.Parts, part)
		}
		b.Lines = append(b.Lines, l)
	}
	return b
}
