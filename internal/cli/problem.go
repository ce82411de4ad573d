package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/deed-project/deed/internal/yaml"
)

// oneLine joins the lines of text.
func oneLine(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines[1:] {
		lines[i+1] = strings.TrimLeft(line, " \t")
	}
	return strings.Join(lines, " ")
}

// fileProblem reports that the file called name cannot be read.
func (c *loader) fileProblem(name string, err error) {
	var atPath *fs.PathError
	if errors.As(err, &atPath) {
		name, err = atPath.Path, atPath.Err
	}
	c.problem(inFile(name), "%v", err)
}

// parseProblem reports that a file has no readable text. The error is that of [yaml.Parse], which names the place.
func (c *loader) parseProblem(err error) {
	where, reason := position{}, err.Error()
	var e *yaml.Error
	if errors.As(err, &e) {
		where, reason = position{file: e.File, line: e.Line, column: e.Column}, e.Reason
	}
	c.problem(where, "%s", reason)
}

// position is a place in a file. The line and the column are counted from 1, and 0 when they are not known.
type position struct {
	file         string
	line, column int
}

// inFile is a file as a whole.
func inFile(name string) position { return position{file: name} }

// String returns the position as editors and terminals know it: FILE:LINE:COLUMN.
func (p position) String() string {
	switch {
	case p.line == 0:
		return p.file
	case p.column == 0:
		return fmt.Sprintf("%s:%d", p.file, p.line)
	}
	return fmt.Sprintf("%s:%d:%d", p.file, p.line, p.column)
}

// compare orders the positions in one file.
func (p position) compare(q position) int {
	return cmp.Or(cmp.Compare(p.line, q.line), cmp.Compare(p.column, q.column))
}

// eachError calls f for the errors that err joins, at any depth.
func eachError(err error, f func(error)) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			eachError(e, f)
		}
	} else if err != nil {
		f(err)
	}
}
