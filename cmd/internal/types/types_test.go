package types_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/storytest"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// TestStories runs the stories of testdata, see [storytest.Run]. The schemas are those of [storytest.Story.Flags]. The commands are
//
//	of APIVERSION KIND [through=SUBRESOURCE] [served=] [bare=]   how objects of a kind are written
//	kind TEXT                           the kind with that name
//	type NAME                           what a type admits, and how it is merged
//	kinds GROUP                         the kinds of a group
//	define FILE                         the types and defects of a definition
//	follow FILE PATH...                 where paths lead in an object, and in its type alone
//	defaults FILE PATH...               the values that a server fills in at paths
//	validate FILE                       defects of objects by their types, and the findings of a server
//	change FILE                         the findings of a server when the first object of a file becomes the second
//	create FILE [bare=]                 the stored objects after an apply of new objects
//	keeps FILE PATH...                  where a server stores paths of an object, and whether it may store nothing there
func TestStories(t *testing.T) {
	storytest.Run(t, map[string]func(*storytest.Story){
		"of": of, "kind": kind, "type": typeNamed, "kinds": kinds, "define": define, "follow": follow, "defaults": defaults,
		"validate": validate, "change": change, "keeps": keeps, "create": create,
	})
}

func of(s *storytest.Story) {
	c := s.Library()
	flags := s.Flags()
	if err := flags.Check(); err != nil {
		s.Print("%v", err)
		return
	}
	s.Print("  schemas given %t", flags.Any())
	all := c.NewTypes(flags, c.Objects(c.Read(s.Words["objects"], false))...)
	if all == nil {
		s.Print("no types")
		return
	}
	all.Served, all.Bare = s.Has("served"), s.Has("bare")
	gvk := schema.ParseGVK(s.Args[0], s.Args[1])
	e, err := all.Of(gvk, s.Config())
	if err != nil {
		s.Print("%s: %v; scalable %t", types.ClassOf(err), err, all.Scalable(gvk.Group, gvk.Kind))
		return
	}
	s.Print("%s; versions %q, of which all are %q", e.From, sorted(e.Versions), sorted(all.VersionsOf(gvk)))
	s.Print("  renamed %t, cluster-scoped %t, made up %t, typed %t, restores %d", e.Renamed, e.ClusterScoped, e.MadeUp, e.Typed(), e.Restores)
	s.Print("  subresources %q, known %t, has status %t, scalable %t", e.Subresources, e.Subresources != nil, e.HasSubresource("status"), all.Scalable(gvk.Group, gvk.Kind))
	for _, version := range slices.Sorted(maps.Keys(e.Replicas)) {
		s.Print("  replicas in %s: %s", version, e.Replicas[version].Text())
	}
	s.Print("  %s", types.TypeText(e.Typ))
	status := s.Config()
	status.Subresource = types.StatusName
	if beside, err := all.Of(gvk, status); err == nil {
		s.Print("  through status it restores %d", beside.Restores)
	}
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func kind(s *storytest.Story) {
	gvk, err := types.ParseKind(strings.Join(s.Args, " "))
	if err != nil {
		s.Print("%v", err)
		return
	}
	s.Print("%v, resource %q, scale %t", gvk, types.ResourceOf(gvk), types.IsScale(gvk))
}

func typeNamed(s *storytest.Story) {
	t, from, err := types.TypeNamed(s.Library(), s.Flags(), s.Args[0])
	if t == nil || err != nil {
		s.Print("%v", err)
		return
	}
	s.Print("%s: %s", from, types.TypeText(t))
	n := 0
	types.EachType(t, func(*schema.Type) { n++ })
	s.Print("  %s; atomic %t, deduced %t, of %d types", types.Topology(t), types.IsAtomic(t), types.IsDeduced(t), n)
	if m := t.Map(); m != nil {
		for _, f := range m.Fields() {
			s.Print("  .%s: %s; %s", f.Name, types.TypeText(f.Type), types.Topology(f.Type))
		}
	}
}

func kinds(s *storytest.Story) {
	all, ok := types.KnownKinds(s.Library(), s.Flags())
	for _, k := range all {
		if k.Group == s.Args[0] {
			s.Print("%v: %s", k.GVK, k.From)
		}
	}
	s.Print("ok %t", ok)
}

func define(s *storytest.Story) {
	c := s.Library()
	found, ok := c.DefinedBy(s.Args)
	s.Print("%d definitions, ok %t", len(found), ok)
	for _, o := range found {
		d, ok := c.Definition(o)
		s.Print("%v: usable %t", o, ok)
		for _, err := range d.Errors() {
			s.Print("  %v: %s", types.PlaceInDefinition(o, err), types.ReasonInDefinition(err))
		}
	}
}

// paths returns the paths in the arguments of the command.
func paths(s *storytest.Story) []fieldpath.Path {
	var out []fieldpath.Path
	for _, text := range s.Args[1:] {
		path, err := fieldpath.ParsePath(text)
		if err != nil {
			s.Fatal(err)
		}
		out = append(out, path)
	}
	return out
}

func follow(s *storytest.Story) {
	s.Each(s.Library(), func(o *manifest.Object, e *types.Endpoint) {
		for _, path := range paths(s) {
			for _, inObject := range []bool{true, false} {
				content, where := o.Content, "in the object"
				if !inObject {
					content, where = value.Value{}, "in the type"
				}
				way, err := types.Follow(e.Typ, content, inObject, secret.Open, path)
				if err != nil {
					s.Print("%s %s: %v", path.Text(), where, err)
					continue
				}
				last := way[len(way)-1]
				s.Print("%s %s: %s, path %s, atomic after %d, declared %s, %s", path.Text(), where, way.Text(secret.Open), way.Path().Text(), way.Atomic(),
					way.Declared(e.Typ, secret.Open), storytest.Show(last.Value))
			}
		}
	})
}

func defaults(s *storytest.Story) {
	s.Each(s.Library(), func(o *manifest.Object, _ *types.Endpoint) {
		all := paths(s)
		found := types.DefaultsAt(o.Object, fieldpath.SetOf(all...))
		for _, path := range all {
			s.Print("%s: %s", path.Text(), storytest.Show(found[secret.KeyOf(path)]))
		}
	})
}

func validate(s *storytest.Story) {
	s.Each(s.Library(), func(o *manifest.Object, e *types.Endpoint) {
		s.Print("%v", o)
		_, err := typed.New(o.Content, e.Typ)
		var defects typed.Errors
		if errors.As(err, &defects) {
			for _, d := range defects {
				s.Print("  %v: %s", o.DefectAt(d), types.Explain(o, d, e.Typ))
			}
			return
		}
		printFindings(s, o, e.Reading(o.Content))
	})
}

func change(s *storytest.Story) {
	var live *manifest.Object
	s.Each(s.Library(), func(o *manifest.Object, e *types.Endpoint) {
		if live == nil {
			live = o
			return
		}
		printFindings(s, o, e.Validate(live.Object, o.Object).Findings)
		restored := e.Restore(live.Object, o.Object)
		s.Print("  stored %v", restored.Content)
		for _, a := range e.Allocates(live.Content, o.Content) {
			s.Print("  allocated %q", a.Paths)
		}
	})
}

func printFindings(s *storytest.Story, o *manifest.Object, all []types.Finding) {
	for _, f := range all {
		s.Print("  %s %s: %s", f.Class, f.Path.Text(), f.Text(o.View()))
	}
}

func create(s *storytest.Story) {
	s.Each(s.Library(), func(o *manifest.Object, e *types.Endpoint) {
		stored, err := e.Manager.Apply(managedfields.Object{}, o.Object, "ann", false)
		if err != nil {
			s.Print("%v: %v", o, err)
			return
		}
		s.Print("%v", stored.Content)
	})
}

func keeps(s *storytest.Story) {
	s.Each(s.Library(), func(o *manifest.Object, e *types.Endpoint) {
		for _, path := range paths(s) {
			s.Print("%s: kept at %s, perhaps nothing %t", path.Text(), e.Folded(path).Text(), e.KeepsNothingAt(path, o.Content))
		}
	})
}
