package managedfields_test

import (
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
)

// schemalessManager returns the field manager of a kind without a schema, in version g/v1. It is always the same second.
func schemalessManager(t *testing.T, change func(*managedfields.Config)) *managedfields.FieldManager {
	t.Helper()
	config := managedfields.Config{
		GVK:   schema.GVK{Group: "g", Version: "v1", Kind: "K"},
		Types: map[string]*schema.Type{"g/v1": schema.Deduced, "g/v2": schema.Deduced},
		Now:   func() time.Time { return time.Unix(946684800, 0) },
	}
	if change != nil {
		change(&config)
	}
	m, err := managedfields.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func parseObject(t *testing.T, text string) managedfields.Object {
	t.Helper()
	if text == "" {
		return managedfields.Object{}
	}
	o, err := managedfields.ParseObject([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func text(t *testing.T, o managedfields.Object) string {
	t.Helper()
	out := o.AppendJSON(nil)
	return string(out)
}

func TestConfigurationsOfAnotherKindAreRefused(t *testing.T) {
	for config, want := range map[string]string{
		`{"apiVersion":"g/v2","kind":"K"}`:  "invalid object type: g/v2, Kind=K",
		`{"apiVersion":"v1"}`:               "invalid object type: /v1, Kind=",
		`{}`:                                "invalid object type: /, Kind=",
		`{"apiVersion":"a/b/c","kind":"K"}`: "invalid object type: /, Kind=",
		`{"apiVersion":"g/v1","kind":"K","metadata":{"managedFields":[]}}`: "metadata.managedFields must be nil",
	} {
		_, err := schemalessManager(t, nil).Apply(managedfields.Object{}, parseObject(t, config), "alpha", false)
		if s := managedfields.ToStatus(err); err == nil || s.Message != want || s.Code != 400 {
			t.Errorf("%s gave %+v, want code 400 and %s", config, s, want)
		}
	}
}

// Null managed fields in a configuration are data: they change the object, though nothing of them is stored.
func TestNullManagedFieldsAreApplied(t *testing.T) {
	m := schemalessManager(t, nil)
	live := parseObject(t, `{"apiVersion":"g/v1","kind":"K","metadata":{"labels":{"a":"b"}}}`)
	const entry = `{"apiVersion":"g/v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:a":{}}}},` +
		`"manager":"alpha","operation":"Apply"`
	for managed, want := range map[string]string{``: entry + `}`, `,"managedFields":null`: entry + `,"time":"2000-01-01T00:00:00Z"}`} {
		out, err := m.Apply(live, parseObject(t, `{"apiVersion":"g/v1","kind":"K","metadata":{"labels":{"a":"b"}`+managed+`}}`), "alpha", false)
		if err != nil {
			t.Fatal(err)
		}
		if got := text(t, out); !strings.Contains(got, want) {
			t.Errorf("with %q:\n%s\nwant the entry\n%s", managed, got, want)
		}
	}
}
