package managedfields_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/internal/testing/kindtest"
	"github.com/deed-project/deed/managedfields"
)

// TestCapUpdaters joins updaters of several versions step by step, in every order of what is oldest: the bucket that is there, the
// first of its version, and the bucket when it comes to itself, which loses all that it holds.
func TestCapUpdaters(t *testing.T) {
	updater := func(name, version string, minute int, field string) string {
		return fmt.Sprintf(`{"manager":%q,"operation":"Update","apiVersion":"example.com/%s","fieldsType":"FieldsV1",
			"time":"2026-01-01T00:%02d:00Z","fieldsV1":{"f:spec":{"f:quota":{"f:%s":{}}}}}`, name, version, minute, field)
	}
	for _, test := range []struct {
		name    string
		limit   int
		entries []string
		want    string
	}{
		{"no bucket yet", 2, []string{updater("a", "v1", 1, "a"), updater("b", "v1", 2, "b")}, `
			ancient-changes Update v1 2: .spec.quota.a .spec.quota.b
			now Update v1 50: .spec.replicas`},
		{"none too many", 3, []string{updater("a", "v1", 1, "a"), updater("b", "v1", 2, "b")}, `
			a Update v1 1: .spec.quota.a
			b Update v1 2: .spec.quota.b
			now Update v1 50: .spec.replicas`},
		{"the bucket is the oldest", 2, []string{updater("ancient-changes", "v1", 1, "old"), updater("a", "v1", 2, "a")}, `
			ancient-changes Update v1 2: .spec.quota.a .spec.quota.old
			now Update v1 50: .spec.replicas`},
		{"the bucket comes to itself", 2, []string{updater("a", "v1", 1, "a"), updater("ancient-changes", "v1", 2, "old")}, `
			a Update v1 1: .spec.quota.a
			now Update v1 50: .spec.replicas`},
		{"joined before the bucket comes to itself", 2, []string{
			updater("a", "v1", 1, "a"), updater("b", "v1", 2, "b"), updater("ancient-changes", "v1", 3, "old")}, `
			a Update v1 1: .spec.quota.a
			now Update v1 50: .spec.replicas`},
		{"joined after the bucket came to itself", 2, []string{
			updater("a", "v1", 1, "a"), updater("ancient-changes", "v1", 2, "old"), updater("b", "v1", 3, "b"), updater("c", "v1", 4, "c")}, `
			ancient-changes Update v1 4: .spec.quota.a .spec.quota.b .spec.quota.c
			now Update v1 50: .spec.replicas`},
		{"a version each", 3, []string{
			updater("a", "v1", 1, "a"), updater("b", "v2", 2, "b"), updater("c", "v1", 3, "c"), updater("d", "v2", 4, "d")}, `
			ancient-changes Update v1 3: .spec.quota.a .spec.quota.c
			ancient-changes Update v2 4: .spec.quota.b .spec.quota.d
			now Update v1 50: .spec.replicas`},
		{"too many, but of a version each", 1, []string{updater("a", "v2", 1, "a")}, `
			a Update v2 1: .spec.quota.a
			now Update v1 50: .spec.replicas`},
		{"beside an applier of a version that nobody is joined in", 2, []string{
			updater("a", "v1", 1, "a"), updater("b", "v1", 2, "b"), strings.Replace(updater("c", "v2", 3, "c"), "Update", "Apply", 1)}, `
			c Apply v2 3: .spec.quota.c
			ancient-changes Update v1 2: .spec.quota.a .spec.quota.b
			now Update v1 50: .spec.replicas`},
		{"of one time by name", 2, []string{updater("b", "v1", 1, "b"), updater("a", "v1", 1, "a"), updater("c", "v1", 1, "c")}, `
			ancient-changes Update v1 1: .spec.quota.a .spec.quota.b .spec.quota.c
			now Update v1 50: .spec.replicas`},
	} {
		t.Run(test.name, func(t *testing.T) {
			live := kindtest.New(t, `"metadata":{"name":"one","managedFields":[`+strings.Join(test.entries, ",")+
				`]},"spec":{"quota":{"a":1,"b":1,"c":1,"d":1,"old":1}}`)
			object := live
			object.Content = object.Content.With("spec", live.Content.Get("spec").With("replicas", kindtest.Parse(t, `1`)))
			m := kindtest.Manager(func(c *managedfields.Config) {
				c.MaxUpdateManagers = test.limit
				c.Now = func() time.Time { return kindtest.NewYear.Add(50 * time.Minute) }
			})
			out, err := m.Update(live, object, "now")
			if err != nil {
				t.Fatal(err)
			}
			if got := kindtest.Show(t, out.Entries); got != kindtest.Lines(test.want) {
				t.Errorf("got\n%s", got)
			}
		})
	}
}
