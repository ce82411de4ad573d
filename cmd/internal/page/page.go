// Package page has the template and the style of pages that deed prints for browsers. The playground has the same style.
package page

import (
	_ "embed"
	"html/template"
	"io"
	"sync"
)

//go:embed blame.html
var blame string

//go:embed page.css
var style string

// pages is parsed when the first page is printed: commands that print none start faster.
var pages = sync.OnceValue(func() *template.Template {
	return template.Must(template.Must(template.New("blame").Parse(blame)).New("style").Parse(style))
})

// Execute writes a part of a page about the owners of lines: see PageTemplate of package report.
func Execute(out io.Writer, part string, data any) error {
	return pages().ExecuteTemplate(out, part, data)
}
