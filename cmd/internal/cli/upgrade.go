package cli

import (
	"bytes"
	"errors"
	"maps"
	"slices"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/schemafile"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/cmd/internal/upgrade"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
)

// planUpgrade runs deed plan for two releases. It applies every object in both, and prints what differs.
func (c *cli) planUpgrade(f planFlags) error {
	if len(f.only) > 0 {
		return errors.New("--only is for one release: a plan of an upgrade has no outcomes of fields")
	}
	how, err := f.how.apply(c, f.manager)
	if how == nil {
		return err
	}
	given, err := c.gather(f.writeFlags, nil)
	if err != nil {
		return err
	}
	fromName, toName, later, _ := given.schemas.Releases()
	before := c.releaseOf(c.Library, given, given.schemas)
	after := c.releaseOf(c.quiet(), given, later) // what is wrong with schemas is said already
	if before == nil || after == nil {
		return nil
	}
	objects := slices.Collect(given.objects)
	before.apply(c, f, how, objects)
	after.apply(c, f, how, objects)
	c.joinNotices(before.log, after.log)
	p := report.NewUpgradePrinter(c.out, f.format.value, fromName, toName, f.all, f.color.painter(c.out))
	p.Schemas(compared(objects, before, after))
	for _, o := range objects {
		changes := upgrade.Of(o, before.side(o), after.side(o))
		if slices.ContainsFunc(changes, func(x upgrade.Change) bool { return x.Class.Breaks() }) || f.exitCode && len(changes) > 0 {
			c.Raise(notice.ExitFinding)
		}
		p.Print(o, changes)
	}
	return c.end(p.Close(len(objects), c.Notices))
}

// release is one of the two releases of an upgrade.
type release struct {
	library *types.Library // reports to log
	types   *types.Types
	given   *gathered
	log     *notice.Log // what the applies report, but for refusals
	sides   map[notice.Position]*upgrade.Side
}

// releaseOf returns the release of flags, or nil if its schemas are unusable.
func (c *cli) releaseOf(l *types.Library, given *gathered, f types.Flags) *release {
	known := l.NewTypes(f, given.definitions...)
	if known == nil {
		return nil
	}
	log := notice.NewLog(new(bytes.Buffer), nil)
	return &release{
		library: &types.Library{Loader: c.With(log), Validation: c.Validation}, types: known, given: given, log: log,
		sides: map[notice.Position]*upgrade.Side{},
	}
}

// side returns what the release does with o.
func (r *release) side(o *manifest.Object) *upgrade.Side {
	if s, ok := r.sides[o.At()]; ok {
		return s
	}
	return &upgrade.Side{}
}

// apply applies the objects.
func (r *release) apply(c *cli, f planFlags, how *dryrun.Apply, objects []*manifest.Object) {
	r.types.Bare, r.types.Served = f.bare, true
	config := managedfields.Config{Now: r.given.now, Subresource: f.subresource}
	var served []*manifest.Object
	for _, o := range objects {
		var unserved *builtin.UnservedError
		if _, err := r.types.Of(o.GVK(), config); errors.As(err, &unserved) {
			r.sides[o.At()] = &upgrade.Side{Unserved: err}
			continue
		}
		served = append(served, o)
	}
	w := dryrun.NewWorkload(r.library, r.types, config, slices.Values(served), r.given.stored)
	w.Namespace, w.Name = f.namespace, f.name
	dryrun.Each(w, "planning", true, how.One, func(t *dryrun.Task, x dryrun.Applied) {
		refusals := notice.NewLog(new(bytes.Buffer), nil)
		library := &types.Library{Loader: c.With(refusals), Validation: c.Validation}
		report.Left(library, t.Given, x.Left)
		for _, err := range []error{x.Err, x.Unmade} {
			if err != nil {
				dryrun.Refused(library, t, dryrun.ApplyRole, err)
			}
		}
		side := &upgrade.Side{Task: t, Applied: x}
		for _, n := range refusals.Notices {
			if n.Class == notice.Refused {
				side.Refusals = append(side.Refusals, n)
			} else {
				r.log.Report(n)
			}
		}
		if x.Err != nil && len(side.Refusals) == 0 { // the answer is unknown
			return
		}
		r.sides[t.Given.At()] = side
	})
}

// joinNotices reports what the releases reported, once.
func (c *cli) joinNotices(logs ...*notice.Log) {
	said := map[notice.Notice]bool{}
	for _, log := range logs {
		for _, n := range log.Notices {
			if !said[n] {
				said[n] = true
				c.Report(n)
			}
		}
	}
}

// compared returns the differences between the schemas of the kinds of objects that both releases have.
func compared(objects []*manifest.Object, before, after *release) []schemafile.Change {
	old, new := map[string]*schema.Type{}, map[string]*schema.Type{}
	for _, o := range objects {
		a, b := before.types.VersionsOf(o.GVK())[o.GVK().APIVersion()], after.types.VersionsOf(o.GVK())[o.GVK().APIVersion()]
		if a != nil && b != nil {
			name := o.GVK().APIVersion() + " " + o.Id.Kind
			old[name], new[name] = a, b
		}
	}
	return schemafile.CompareTypes(slices.Sorted(maps.Keys(old)), old, new)
}
