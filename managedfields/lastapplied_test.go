package managedfields_test

import (
	"testing"

	"github.com/deed-project/deed/value"
)

const lastAppliedName = "kubectl.kubernetes.io/last-applied-configuration"

// kubectl's record becomes what it applied, as it applied it, but for the record itself.
func TestKubectlRecordsWhatItApplies(t *testing.T) {
	live := parseObject(t, `{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{"`+lastAppliedName+`":"old"}}}`)
	for config, want := range map[string]string{
		`{"apiVersion":"g/v1","kind":"K"}`:                                                                       `{"apiVersion":"g/v1","kind":"K"}`,
		`{"apiVersion":"g/v1","kind":"K","metadata":{}}`:                                                         `{"apiVersion":"g/v1","kind":"K","metadata":{}}`,
		`{"apiVersion":"g/v1","kind":"K","metadata":{"managedFields":null}}`:                                     `{"apiVersion":"g/v1","kind":"K","metadata":{"managedFields":null}}`,
		`{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{}}}`:                                         `{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{}}}`,
		`{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{"` + lastAppliedName + `":"sent"}}}`:         `{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{}}}`,
		`{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{"` + lastAppliedName + `":"sent","a":"<"}}}`: `{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{"a":"\u003c"}}}`,
	} {
		out, err := schemalessManager(t, nil).Apply(live, parseObject(t, config), "kubectl", true)
		if err != nil {
			t.Fatal(err)
		}
		if got := out.Content.At("metadata", "annotations", lastAppliedName); got.Str() != want+"\n" {
			t.Errorf("%s recorded %s, want %s", config, got, value.String(want))
		}
	}
}

// Annotations that are not all strings are none: nothing is recorded.
func TestKubectlRecordsNothingAmongUnreadableAnnotations(t *testing.T) {
	live := parseObject(t, `{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{"`+lastAppliedName+`":"old"}}}`)
	config := parseObject(t, `{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{"a":null}}}`)
	out, err := schemalessManager(t, nil).Apply(live, config, "kubectl", false)
	if err != nil {
		t.Fatal(err)
	}
	if got := out.Content.At("metadata", "annotations", lastAppliedName).Str(); got != "old" {
		t.Errorf("recorded %q", got)
	}
}
