package managedfields_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/kindtest"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/value"
)

// kubectl has no conflict about what its own record has with the value that is there, S5; all else conflicts: another manager, another
// value, and a record that is missing, cannot be read, is of another kind or version, or does not conform.
func TestKubectlTakesOver(t *testing.T) {
	const same = `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"one","namespace":"n"},"spec":{"replicas":1,"args":["-a"]}}`
	kind := kindtest.New(t, `"metadata":{"name":"one"}`).Content.Get("kind").Str()
	for _, c := range []struct {
		name, manager, record, want string
	}{
		{"its own record", "kubectl", same, ""},
		{"another manager", "ann", same, ".spec.args .spec.replicas"},
		{"no record", "kubectl", "", ".spec.args .spec.replicas"},
		{"another value", "kubectl", strings.Replace(same, `"replicas":1`, `"replicas":2`, 1), ".spec.replicas"},
		{"one field alone", "kubectl", strings.Replace(same, `"replicas":1,`, ``, 1), ".spec.replicas"},
		{"what cannot be read", "kubectl", strings.TrimSuffix(same, "}"), ".spec.args .spec.replicas"},
		{"another kind", "kubectl", strings.Replace(same, `"kind":"Thing"`, `"kind":"Other"`, 1), ".spec.args .spec.replicas"},
		{"another version", "kubectl", strings.Replace(same, `/v1`, `/v2`, 1), ".spec.args .spec.replicas"},
		{"what does not conform", "kubectl", strings.Replace(same, `["-a"]`, `"-a"`, 1), ".spec.args .spec.replicas"},
	} {
		t.Run(c.name, func(t *testing.T) {
			live := kindtest.New(t, `"metadata":{"name":"one"},"spec":{"replicas":1,"args":["-a"]}`)
			if c.record != "" {
				record := strings.Replace(c.record, "Thing", kind, 1)
				annotations := value.Object(value.Member{Name: lastAppliedName, Value: value.String(record)})
				live.Content = live.Content.With("metadata", live.Content.Get("metadata").With("annotations", annotations))
			}
			live.Entries = kindtest.Entries(t, `[{"manager":"csa","operation":"Update","apiVersion":"example.com/v1","fieldsType":"FieldsV1",
				"fieldsV1":{"f:spec":{"f:args":{},"f:replicas":{}}}}]`)
			_, err := kindtest.Manager(nil).Apply(live, kindtest.New(t, `"metadata":{"name":"one"},"spec":{"replicas":3,"args":["-b"]}`), c.manager, false)
			var conflicts merge.Conflicts
			if err != nil && !errors.As(err, &conflicts) {
				t.Fatal(err)
			}
			var got []string
			for _, conflict := range conflicts {
				got = append(got, conflict.Path.Text())
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("conflicts on %v, want %s", got, c.want)
			}
		})
	}
}
