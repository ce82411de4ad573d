package explain

import (
	"os"
	"testing"

	"github.com/deed-project/deed/cmd/internal/entries"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/selector"
	"github.com/deed-project/deed/cmd/internal/testobjects"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
)

func library() (*types.Library, *types.Types) {
	c := types.NewLibrary(&manifest.Loader{Log: notice.NewLog(os.Stderr, nil)})
	return c, c.NewTypes(types.Flags{})
}

// inDeployment explains path in Deployments.
func inDeployment(t *testing.T, path string) *Explanation {
	t.Helper()
	_, all := library()
	kind := schema.GVK{Group: "apps", Version: "v1", Kind: "Deployment"}
	e, err := all.Of(kind, managedfields.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := selector.Parse(path)
	if err != nil {
		t.Fatal(err)
	}
	x, err := InKind(e, kind, s)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestRoles has a path for each role.
func TestRoles(t *testing.T) {
	for path, want := range map[string]Role{
		".spec.replicas":                                     Value,
		".spec.selector":                                     Value, // an atomic object
		".spec.selector.matchLabels":                         PartOfValue,
		".spec.template.spec.containers":                     Container,
		`.spec.template.spec.containers[name="web"]`:         KeyedItem,
		`.spec.template.spec.containers[name="web"].command`: Value, // an atomic list
		".metadata.name":                                     System,
		".metadata.labels.example.org/team":                  Value, // a name with dots
	} {
		if x := inDeployment(t, path); x.Role != want {
			t.Errorf("%s has role %d, want %d", path, x.Role, want)
		}
	}
}

// TestOwners checks that the owners are those whose sets have the path, in objects in which each value is owned by itself.
func TestOwners(t *testing.T) {
	c, all := library()
	seen := 0
	for _, o := range testobjects.Owned(t) {
		e, ok := c.TypeOf(o, all, managedfields.Config{})
		if !ok {
			t.Fatalf("%v has no type", o.Id)
		}
		owned, err := entries.Of(o)
		if err != nil {
			t.Fatal(err)
		}
		for path := range owned.Sets[0].Leaves().All() {
			s, err := selector.Parse(path.Text())
			if err != nil {
				t.Fatal(err)
			}
			found, err := InObject(c, o, e, s)
			if err != nil || len(found) != 1 {
				continue // an item without an identity, or of an atomic list
			}
			x := found[0]
			if want := owned.OwnersAt(path); x.Through == nil && len(x.Owners) != len(want) {
				t.Errorf("%v: %s has owners %v, want %v", o.Id, path.Text(), x.Owners, want)
			}
			seen++
		}
	}
	if seen < 100 {
		t.Errorf("%d paths were explained, want many more", seen)
	}
}
