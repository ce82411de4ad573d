package explain_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/deed-project/deed/cmd/internal/explain"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/selector"
	"github.com/deed-project/deed/cmd/internal/storytest"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
)

// TestStories runs the stories of testdata, see [storytest.Run]. The commands are
//
//	explain FILE PATH...              the facts about paths in objects
//	kind APIVERSION KIND PATH...      the facts about paths in a kind
func TestStories(t *testing.T) {
	storytest.Run(t, map[string]func(*storytest.Story){"explain": inObjects, "kind": inKind})
}

var roles = map[explain.Role]string{
	explain.Value: "value", explain.System: "system", explain.PartOfValue: "part of a value", explain.KeyedItem: "keyed item",
	explain.Container: "container",
}

func inObjects(s *storytest.Story) {
	c := s.Library()
	s.Each(c, func(o *manifest.Object, e *types.Endpoint) {
		for _, text := range s.Args[1:] {
			found, err := explain.InObject(c, o, e, parsed(s, text))
			if err != nil {
				s.Print("%s: %v", text, err)
			}
			for _, x := range found {
				printExplanation(s, x)
				s.Print("    set %t at %v, owned by %s, through %s", x.IsSet, x.Where, owners(x.Owners), x.Through.Text())
				for i, above := range x.Above {
					s.Print("    above %s: %s", x.Way[:i+1].Text(x.View), owners(above))
				}
				for _, below := range x.Below {
					s.Print("    below: %d of %v, nobody's %t", below.Values, below.Manager, below.Nobodys)
				}
			}
		}
	})
}

func owners(all []manifest.Holder) string {
	var out []string
	for _, h := range all {
		out = append(out, fmt.Sprint(h.Manager))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func inKind(s *storytest.Story) {
	kind := schema.ParseGVK(s.Args[0], s.Args[1])
	e, err := s.Types(s.Library()).Of(kind, managedfields.Config{})
	if err != nil {
		s.Fatal(err)
	}
	for _, text := range s.Args[2:] {
		x, err := explain.InKind(e, kind, parsed(s, text))
		if err != nil {
			s.Print("%s: %v", text, err)
			continue
		}
		printExplanation(s, x)
	}
}

func parsed(s *storytest.Story, text string) selector.Selector {
	out, err := selector.Parse(text)
	if err != nil {
		s.Fatal(err)
	}
	return out
}

func printExplanation(s *storytest.Story, x *explain.Explanation) {
	s.Print("%s is a %s of %v, declared %s, atomic after %d, %s", x.Way.Text(x.View), roles[x.Role], x.Kind, x.Declared, x.Atomic, x.Source)
	if len(x.Fields) > 0 {
		s.Print("    fields %s", strings.Join(x.Fields, " "))
	}
}
