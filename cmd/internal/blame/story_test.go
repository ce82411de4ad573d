package blame_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/deed-project/deed/cmd/internal/blame"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/storytest"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/ownership"
)

// TestStories runs the stories of testdata, see [storytest.Run]. The commands are
//
//	blame FILE [by=MANAGER,...]   the owners of the lines of objects, or the lines of managers
//	shares FILE PATH...           the number of values of each owner below paths
func TestStories(t *testing.T) {
	storytest.Run(t, map[string]func(*storytest.Story){"blame": annotate, "shares": shares})
}

// each calls f for the lines of each object.
func each(s *storytest.Story, f func([]blame.Line)) {
	s.Each(s.Library(), func(o *manifest.Object, e *types.Endpoint) {
		lines, err := blame.Annotate(o, e)
		if s.Print("%v", o); err != nil {
			s.Print("error: %v", err)
		}
		f(lines)
	})
}

func annotate(s *storytest.Story) {
	each(s, func(lines []blame.Line) {
		if s.Has("by") {
			lines = blame.OwnedBy(lines, s.Words["by"])
		}
		for _, line := range lines {
			note := ""
			if line.Block {
				note += " a block begins"
			}
			if line.Continues > 0 {
				note += fmt.Sprintf(" continues %d", line.Continues)
			}
			s.Print("%3d %s%s", line.Number, line.Text, note)
			for _, p := range line.Parts {
				s.Print("      %s at %v, %s: %s%s", p.Path.Text(), p.At, p.Kind, owners(p.Owners), through(p.Through))
			}
		}
	})
}

func owners(all []ownership.Owner) string {
	var out []string
	for _, o := range all {
		out = append(out, fmt.Sprintf("%d %v in %s", o.Index, o.Manager, o.APIVersion))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func through(path fieldpath.Path) string {
	if path == nil {
		return ""
	}
	return " through " + path.Text()
}

func shares(s *storytest.Story) {
	each(s, func(lines []blame.Line) {
		for _, text := range s.Args[1:] {
			path, err := fieldpath.ParsePath(text)
			if err != nil {
				s.Fatal(err)
			}
			for _, x := range blame.Shares(lines, path) {
				s.Print("%s: %v, nobody's %t: %d", text, x.Manager, x.Nobodys, x.Values)
			}
		}
	})
}
