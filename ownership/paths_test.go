package ownership_test

import (
	"testing"

	"github.com/deed-project/deed/internal/testing/kindtest"
	"github.com/deed-project/deed/internal/testing/pathtest"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/schema"
)

// deepSpec is a spec with items in items, and things that are owned as a whole.
const deepSpec = `"spec":{"args":["-a","-b"],"containers":[` +
	`{"name":"a","image":"i","ports":[{"port":80,"hostPort":1},{"port":81,"hostPort":2},{"port":82,"hostPort":3}]},` +
	`{"name":"b","image":"j","ports":[{"port":80,"hostPort":4},{"port":81,"hostPort":5},{"port":82,"hostPort":6}]}],` +
	`"selector":{"x":"1","y":"2"}}`

// TestOwnershipGivesPathsAway asks for what has paths in it: owners, findings about items that are half owned and about fields that
// are not there, leftovers and notations.
func TestOwnershipGivesPathsAway(t *testing.T) {
	m := kindtest.Manager(nil)
	keys := `"spec":{"containers":[{"name":"a","ports":[{"port":80},{"port":81},{"port":82}]},{"name":"b","ports":[{"port":80},{"port":81},{"port":82}]}]}`
	live := kindtest.Apply(t, m, kindtest.Apply(t, m, managedfields.Object{}, "ann", deepSpec), "eve", keys)
	config := ownership.CheckConfig{Versions: ownership.Versions{Types: map[string]*schema.Type{kindtest.Version: kindtest.Type}}}
	empty := kindtest.New(t, `"spec":{"replicas":1,"containers":[{"name":"a"}]}`)
	empty.Entries = live.Entries
	respelled := kindtest.New(t, `"spec":{"containers":[{"name":"a","ports":[{"port":80.0,"hostPort":1.0},{"port":81.0,"hostPort":2.0}]}]}`)
	for name, source := range map[string]func() any{
		"owners": func() any {
			all, err := ownership.Owners(live, kindtest.Type, nil)
			if err != nil {
				t.Fatal(err)
			}
			return all
		},
		"orphans": func() any { return ownership.Check(live, config) },
		"absent":  func() any { return ownership.Check(empty, config) },
		"leftovers": func() any {
			out, err := ownership.PlanMigration(m, kindtest.Update(t, m, managedfields.Object{}, "csa", deepSpec), kindtest.New(t, keys), []string{"csa"}, "ann")
			if err != nil {
				t.Fatal(err)
			}
			return out
		},
		"notations": func() any {
			out, err := ownership.WouldChange(m, live, respelled, "ann")
			if err != nil {
				t.Fatal(err)
			}
			return out.Notations
		},
	} {
		t.Run(name, func(t *testing.T) { pathtest.Belong(t, 4, source) })
	}
}
