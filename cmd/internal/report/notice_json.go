package report

import "github.com/deed-project/deed/cmd/internal/notice"

// noticeJSON is a notice in JSON.
type noticeJSON struct {
	Class   notice.Class `json:"class"`
	File    string       `json:"file"`
	Line    int          `json:"line,omitempty"`
	Column  int          `json:"column,omitempty"`
	Object  string       `json:"object,omitempty"`
	Detail  string       `json:"detail"`
	Warning bool         `json:"warning,omitempty"`
}

// noticesJSON returns notices in JSON.
func noticesJSON(notices []notice.Notice) []noticeJSON {
	out := []noticeJSON{}
	for _, n := range notices {
		out = append(out, noticeJSON{n.Class, n.Where.File, n.Where.Line, n.Where.Column, n.Subject, n.Text, n.Warning})
	}
	return out
}
