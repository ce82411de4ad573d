package finding

import (
	"cmp"
	"slices"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/schema"
)

// OfObject returns the findings about the managed fields of o.
func OfObject(c *types.Library, o *manifest.Object, known *types.Types) []Finding {
	e, err := known.Of(o.GVK(), managedfields.Config{})
	if err != nil {
		c.Report(notice.Notice{
			Class: types.ClassOf(err), Warning: true, Where: o.At("kind"), Subject: o.String(),
			Text: secret.Open.Error(err) + "; only what needs no schema is checked",
		})
	}
	all := slices.DeleteFunc(findings(c, o, e), func(f ownership.Finding) bool { return isLeftOut(o, f, known) })
	keys := o.Keys(func(yield func(fieldpath.Path) bool) {
		for _, finding := range all {
			if finding.Path != nil && !yield(finding.Path) {
				return
			}
		}
	})
	var out []Finding
	view := o.View()
	for _, finding := range all {
		x := Finding{
			Code: finding.Code, Entry: finding.Entry, Manager: finding.Manager, Detail: finding.Detail, Remedy: finding.Remedy,
			Where: o.At(), Subject: o.String(), Object: o,
		}
		if finding.Err != nil {
			x.Detail = view.Error(finding.Err)
		}
		for path := range finding.Fields.All() {
			x.Places = append(x.Places, view.Path(path))
		}
		if finding.Entry >= 0 {
			x.Where = o.At("metadata", "managedFields", finding.Entry)
		}
		if finding.Path != nil {
			x.Place = view.Path(finding.Path)
			if at, ok := keys[secret.KeyOf(finding.Path)]; ok {
				x.Where = at
			}
		}
		out = append(out, x)
	}
	return out
}

// absentCode is the code of owned paths that the object lacks.
const absentCode ownership.Code = "absent-path"

// isLeftOut reports whether f is about a path at which a server stores no value, see [types.Endpoint.KeepsNothingAt]. Another apply of the
// same configuration owns such a path again.
func isLeftOut(o *manifest.Object, f ownership.Finding, known *types.Types) bool {
	if f.Code != absentCode || o.Entries[f.Entry].Operation != merge.Apply {
		return false
	}
	e, err := known.Of(schema.ParseGVK(o.Entries[f.Entry].APIVersion, o.Id.Kind), managedfields.Config{})
	return err == nil && e.KeepsNothingAt(f.Path, o.Content)
}

// findings returns the findings about the managed fields of o, whose endpoint is e; e is nil if there is none. It warns about entries whose
// version is not convertible: for these it makes only the checks without a schema.
func findings(c *types.Library, o *manifest.Object, e *types.Endpoint) []ownership.Finding {
	if e == nil {
		return ownership.Check(o.Object, ownership.CheckConfig{})
	}
	readable := o.Object
	readable.Entries = nil
	var at []int // the indexes of the entries of readable in o
	for i, entry := range o.Entries {
		if _, known := e.Versions[entry.APIVersion]; known && !e.Converts() && entry.APIVersion != o.GVK().APIVersion() {
			c.Warn(o.At("metadata", "managedFields", i), "%v: the fields of %s are of %s, which deed cannot convert the object to; "+
				"only what needs no schema is checked", o, wording.Manager(entry.Manager), entry.APIVersion)
			continue
		}
		readable.Entries, at = append(readable.Entries, entry), append(at, i)
	}
	config := ownership.CheckConfig{Versions: e.Conversions()}
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
