package report

import (
	"fmt"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/wording"
)

// readProblems counts the notices about inputs that cannot be read or used.
func readProblems(notices []notice.Notice) int {
	count := 0
	for _, n := range notices {
		if n.Class == notice.Unread {
			count++
		}
	}
	return count
}

// showReadProblems returns the part of a sum with the number of reading problems, if there are any.
func showReadProblems(count int) string {
	if count == 0 {
		return ""
	}
	return fmt.Sprintf("; %s with reading", wording.Plural(count, "problem"))
}

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
