package entries_test

import (
	"strings"
	"testing"

	"github.com/deed-project/deed/cmd/internal/entries"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/selector"
	"github.com/deed-project/deed/cmd/internal/storytest"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
)

// TestStories runs the stories of testdata, see [storytest.Run]. The commands are
//
//	query FILE [managers=M,...] [only=M,...] [not=M,...] [both=M,...]   the paths of entries
//	under FILE old=CRD new=CRD                                         the effect of another schema on entries
func TestStories(t *testing.T) {
	storytest.Run(t, map[string]func(*storytest.Story){"query": query, "under": under})
}

// each calls f for the entries of each object.
func each(s *storytest.Story, f func(entries.Entries)) {
	c := s.Library()
	for _, o := range c.Objects(c.Read(s.Args, false)) {
		e, err := entries.Of(o)
		if s.Print("%v, %+v", o, entries.SizesOf(o)); err != nil {
			s.Print("error: %v", err)
		}
		f(e)
	}
}

func query(s *storytest.Story) {
	managers := func(word string) (out []selector.Manager) {
		for _, text := range s.Words[word] {
			out = append(out, selector.ParseManager(text))
		}
		return out
	}
	q := entries.Query{Managers: managers("managers"), Only: managers("only"), Not: managers("not"), Both: managers("both")}
	each(s, func(e entries.Entries) {
		if q.IsSet() {
			set := q.Set(e)
			s.Print("  %s", texts(slice(set)))
			return
		}
		for i, owner := range e.Owners {
			if q.Wants(owner) {
				s.Print("  %v: %s", owner.Manager, texts(slice(e.Sets[i])))
			}
		}
	})
}

func slice(set fieldpath.Set) (out []fieldpath.Path) {
	for path := range set.All() {
		out = append(out, path)
	}
	return out
}

func texts(paths []fieldpath.Path) string {
	var out []string
	for _, path := range paths {
		out = append(out, path.Text())
	}
	return "[" + strings.Join(out, " ") + "]"
}

func under(s *storytest.Story) {
	c := s.Library()
	catalog := func(word string) *schema.Catalog {
		found, _ := c.DefinedBy(s.Words[word])
		return types.ReadDefinition(found[0]).Catalog
	}
	old, new := catalog("old"), catalog("new")
	each(s, func(e entries.Entries) {
		for _, x := range e.Under(old, new) {
			s.Print("  %v: %s: lost %s, gained %s, hollow %s, unknown %s, %q", x.Where, owner(x.Owner), texts(x.Lost), texts(x.Gained),
				texts(x.Hollow), texts(x.Unknown), x.Detail)
		}
	})
}

func owner(h *manifest.Holder) string {
	if h == nil {
		return "the object"
	}
	return h.Manager.Name
}
