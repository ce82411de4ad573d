package managedfields_test

import (
	"strings"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/value"
)

// Failures name the new object in the version of the endpoint, whatever version it was sent in.
func TestUpdateFailuresNameTheEndpointsVersion(t *testing.T) {
	live := parseObject(t, `{"apiVersion":"g/v2","kind":"K","metadata":{"managedFields":[
		{"manager":"alpha","operation":"Update","apiVersion":"a/b/c","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]}}`)
	_, err := schemalessManager(t, nil).Update(live, parseObject(t, `{"apiVersion":"g/v2","kind":"K","metadata":{"name":"n"}}`), "beta")
	const want = "failed to update ManagedFields (/n; g/v1, Kind=K): unexpected GroupVersion string: a/b/c"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// An update removes managed fields as data, so who claims to own them loses them, unless the endpoint resets metadata.
func TestOwnersOfManagedFieldsLoseThem(t *testing.T) {
	const live = `{"apiVersion":"g/v1","kind":"K","metadata":{"uid":"u","managedFields":[{"apiVersion":"g/v1","fieldsType":"FieldsV1",` +
		`"fieldsV1":{"f:metadata":{"f:managedFields":{}},"f:spec":{}},"manager":"alpha","operation":"Update"}]}}`
	all := fieldpath.SetOf(fieldpath.Path{fieldpath.Field("metadata")})
	for _, c := range []struct {
		change func(*managedfields.Config)
		want   bool
	}{
		{nil, false},
		{func(c *managedfields.Config) {
			c.Subresource, c.ResetFields = "status", map[string]merge.Filter{"g/v1": {Exclude: all}}
		}, true},
	} {
		out, err := schemalessManager(t, c.change).Update(parseObject(t, live), parseObject(t, `{"apiVersion":"g/v1","kind":"K","metadata":{"uid":"u"}}`), "beta")
		if err != nil {
			t.Fatal(err)
		}
		if got := text(t, out); strings.Contains(got, "f:managedFields") != c.want || !strings.Contains(got, "f:spec") {
			t.Errorf("want the path kept: %t\n%s", c.want, got)
		}
	}
}

// In a version whose objects are one value nobody can lose a part of them.
func TestOwnersInAtomicVersionsKeepManagedFields(t *testing.T) {
	root := typeOf(t, atomicRoot)
	m := schemalessManager(t, func(c *managedfields.Config) { c.Types["g/v2"] = root })
	live := parseObject(t, `{"apiVersion":"g/v1","kind":"K","metadata":{"managedFields":[{"apiVersion":"g/v2","fieldsType":"FieldsV1",`+
		`"fieldsV1":{"f:metadata":{"f:managedFields":{}}},"operation":"Apply"}]}}`)
	live.Content = live.Content.With("metadata", value.Value{})
	out, err := m.Update(live, parseObject(t, `{"apiVersion":"g/v1","kind":"K"}`), "beta")
	if err != nil || len(out.Entries) != 1 {
		t.Errorf("got %+v, %v, want the entry kept", out.Entries, err)
	}
}
