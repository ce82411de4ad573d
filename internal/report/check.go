package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/manifest"
	"github.com/deed-project/deed/internal/notice"
	"github.com/deed-project/deed/internal/types"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/ownership"
)

// CheckCodes are the codes of findings, those about managed fields in the order of docs/check.md.
var CheckCodes = append(ownership.Codes(), atomicListCode, objectSetCode)

// Finding is a finding with its place.
type Finding struct {
	Where   notice.Position
	Subject string
	Finding ownership.Finding
	entry   bool // whether it is about an entry
	object  *manifest.Object
	kind    string // that a finding about a schema is about
	path    string
}

// String returns the finding without its place.
func (x Finding) String() string {
	if x.kind == "" {
		return x.Finding.String()
	}
	return fmt.Sprintf("%s: %s: %s: %s", x.Finding.Code, x.kind, x.path, x.Finding.Detail)
}

// CheckObject returns what is wrong with the managed fields of o.
func CheckObject(c *types.Library, o *manifest.Object, types *types.Types) []Finding {
	e, err := types.Of(o.GVK(), managedfields.Config{})
	if err != nil {
		c.Warn(o.At("kind"), "%v: %v; only what needs no schema is checked", o, err)
	}
	all := findings(c, o, e)
	keys := o.Keys(func(yield func(fieldpath.Path) bool) {
		for _, finding := range all {
			if finding.Path != nil && !yield(finding.Path) {
				return
			}
		}
	})
	var out []Finding
	for _, finding := range all {
		x := Finding{Where: o.At(), Subject: o.String(), Finding: finding, object: o, entry: finding.Entry >= 0}
		if x.entry {
			x.Where = o.At("metadata", "managedFields", finding.Entry)
		}
		if finding.Path != nil {
			x.path = finding.Path.Text()
			if at, ok := keys[x.path]; ok {
				x.Where = at
			}
		}
		out = append(out, x)
	}
	return out
}

// findings returns what is wrong with the managed fields of o, whose endpoint is e, nil if there is none. It warns about
// entries whose version o cannot be converted to: for these only that is found which needs no schema.
func findings(c *types.Library, o *manifest.Object, e *types.Endpoint) []ownership.Finding {
	if e == nil {
		return ownership.Check(o.Object, ownership.CheckConfig{})
	}
	readable := o.Object
	readable.Entries = nil
	var at []int // where the entries of readable are in o
	for i, entry := range o.Entries {
		if _, known := e.Versions[entry.APIVersion]; known && !e.Renamed && entry.APIVersion != o.GVK().APIVersion() {
			c.Warn(o.At("metadata", "managedFields", i), "%v: the fields of %s are of %s, which deed cannot convert the object to; "+
				"only what needs no schema is checked", o, Manager(entry.Manager), entry.APIVersion)
			continue
		}
		readable.Entries, at = append(readable.Entries, entry), append(at, i)
	}
	config := ownership.CheckConfig{Versions: ownership.Versions{Types: e.Versions}}
	if len(at) == len(o.Entries) {
		return ownership.Check(o.Object, config)
	}
	found := ownership.Check(o.Object, ownership.CheckConfig{})
	for _, f := range ownership.Check(readable, config) {
		if owning.NeedsSchema(f.Code) {
			if f.Entry >= 0 {
				f.Entry = at[f.Entry]
			}
			found = append(found, f)
		}
	}
	slices.SortStableFunc(found, func(a, b ownership.Finding) int { return cmp.Compare(uint(a.Entry), uint(b.Entry)) })
	return found
}

// FindingJSON is a finding in JSON.
type FindingJSON struct {
	Code    string        `json:"code"`
	File    string        `json:"file"`
	Line    int           `json:"line,omitempty"`
	Column  int           `json:"column,omitempty"`
	Object  *manifest.Ref `json:"object,omitempty"`
	Kind    string        `json:"kind,omitempty"` // that a schema describes
	Entry   *int          `json:"entry,omitempty"`
	Manager string        `json:"manager,omitempty"`
	Path    string        `json:"path,omitempty"`
	Paths   []string      `json:"paths,omitempty"`
	Detail  string        `json:"detail"`
	Remedy  string        `json:"remedy,omitempty"`
}

func findingJSON(x Finding) FindingJSON {
	f := FindingJSON{
		Code: string(x.Finding.Code), File: x.Where.File, Line: x.Where.Line, Column: x.Where.Column, Kind: x.kind,
		Manager: x.Finding.Manager, Path: x.path, Detail: x.Finding.Detail, Remedy: x.Finding.Remedy,
	}
	if x.object != nil {
		o := x.object.Ref()
		f.Object = &o
	}
	if x.entry {
		f.Entry = &x.Finding.Entry
	}
	for path := range x.Finding.Fields.All() {
		f.Paths = append(f.Paths, path.Text())
	}
	return f
}
