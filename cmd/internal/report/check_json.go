package report

import (
	"github.com/deed-project/deed/cmd/internal/finding"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
)

// FindingJSON is a finding in JSON.
type FindingJSON struct {
	Code    string        `json:"code"`
	File    string        `json:"file"`
	Line    int           `json:"line,omitempty"`
	Column  int           `json:"column,omitempty"`
	Object  *manifest.Ref `json:"object,omitempty"`
	Kind    string        `json:"kind,omitempty"` // the kind that a schema describes
	Entry   *int          `json:"entry,omitempty"`
	Manager string        `json:"manager,omitempty"`
	Path    string        `json:"path,omitempty"`
	Paths   []string      `json:"paths,omitempty"`
	Detail  string        `json:"detail"`
	Remedy  string        `json:"remedy,omitempty"`
	Warning bool          `json:"warning,omitempty"` // set for a notice of the run that is no problem
}

// noticeAsFinding returns a notice of the run in the form of a finding.
func noticeAsFinding(n notice.Notice) FindingJSON {
	return FindingJSON{
		Code: string(n.Class), File: n.Where.File, Line: n.Where.Line, Column: n.Where.Column, Detail: n.Text, Warning: n.Warning,
	}
}

func findingJSON(x finding.Finding) FindingJSON {
	f := FindingJSON{
		Code: string(x.Code), File: x.Where.File, Line: x.Where.Line, Column: x.Where.Column, Kind: x.Kind,
		Manager: x.Manager, Path: x.Place, Detail: x.Detail, Remedy: x.Remedy,
		Paths: x.Places,
	}
	if x.Object != nil {
		o := x.Object.Ref()
		f.Object = &o
	}
	if x.OfEntry() {
		f.Entry = &x.Entry
	}
	return f
}
