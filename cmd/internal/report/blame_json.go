package report

import (
	"github.com/deed-project/deed/cmd/internal/blame"
	"github.com/deed-project/deed/cmd/internal/manifest"
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
	Line    int         `json:"line"` // the line in the file
	Kind    string      `json:"kind"`
	Owners  []ownerJSON `json:"owners"`
	Through string      `json:"through,omitempty"`
}

// blameJSON returns o with all parts of all lines.
func blameJSON(o blame.Object) blamedJSON {
	b, view := blamedJSON{Ref: o.Ref()}, o.View()
	for _, line := range o.Lines {
		l := blameLineJSON{Text: line.Text, Continues: line.Continues > 0}
		for _, p := range line.Parts {
			part := blamePartJSON{Path: view.Path(p.Path), Line: p.At.Line, Kind: p.Kind, Owners: ownersJSON(p.Owners)}
			if p.Through != nil {
				part.Through = view.Path(p.Through)
			}
			l.Parts = append(l.Parts, part)
		}
		b.Lines = append(b.Lines, l)
	}
	return b
}
