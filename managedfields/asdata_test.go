package managedfields_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/value"
)

// readers are all ways to read an object.
var readers = map[string]func(text string) (managedfields.Object, error){
	"ParseObject": func(text string) (managedfields.Object, error) { return managedfields.ParseObject([]byte(text)) },
	"Decoder.Parse": func(text string) (managedfields.Object, error) {
		var d managedfields.Decoder
		if _, err := d.Parse([]byte(text)); err != nil {
			return managedfields.Object{}, err
		}
		return d.Parse([]byte(text))
	},
	"ObjectOf": func(text string) (managedfields.Object, error) {
		v, err := value.Parse([]byte(text))
		if err != nil {
			return managedfields.Object{}, err
		}
		return managedfields.ObjectOf(v)
	},
	"ObjectFromAny": func(text string) (managedfields.Object, error) {
		var content map[string]any
		if err := json.Unmarshal([]byte(text), &content); err != nil {
			return managedfields.Object{}, err
		}
		return managedfields.ObjectFromAny(content)
	},
}

// The type refuses a live object whose managed fields have what no entry has, however the object was read.
func TestManagedFieldsAreCheckedWhereTheyAreData(t *testing.T) {
	gvk := schema.GVK{Version: "v1", Kind: "ConfigMap"}
	typ, _ := builtin.Catalog().Lookup(gvk)
	m, err := managedfields.New(managedfields.Config{GVK: gvk, Types: map[string]*schema.Type{"v1": typ}})
	if err != nil {
		t.Fatal(err)
	}
	object := parseObject(t, `{"apiVersion":"v1","kind":"ConfigMap"}`)
	const path = "smd typed: .metadata.managedFields[0]"
	for entry, want := range map[string]string{
		`{}`:                                   "",
		`{"fieldsV1":{},"time":null}`:          "",
		`{"fieldsV1":null}`:                    "",
		`{"more":"x"}`:                         path + ".more: field not declared in schema",
		`{"more":null}`:                        path + ".more: field not declared in schema",
		`{"more":{},"fieldsV1":{"f:data":{}}}`: path + ".more: field not declared in schema",
		`{"fieldsV1":"x"}`:                     path + ".fieldsV1: expected map, got &{x}",
		`{"fieldsV1":[1]}`:                     path + ".fieldsV1: expected map, got &{[1]}",
	} {
		for name, read := range readers {
			live, err := read(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"managedFields":[` + entry + `]}}`)
			if err != nil {
				t.Fatalf("%s of %s: %v", name, entry, err)
			}
			_, err = m.Update(live, object, "ci")
			if got := message(err); want == "" && got != "" || !strings.HasSuffix(got, want) {
				t.Errorf("%s: an update of %s: %v\nwant %s", name, entry, err, want)
			}
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// An apply that goes through another version is a change where objects are held as Go structs, and where its managed fields
// sort otherwise as text: 443 before 80.
func TestDetourChangesStructs(t *testing.T) {
	const fields = `{"v:80":{},"v:443":{}}`
	for _, c := range []struct {
		hub, apiVersion, fields string
		changed                 bool
	}{
		{"g/v1", "g/v2", fields, true},
		{"g/v1", "g/v2", `{"v:443":{}}`, false},
		{"g/v1", "g/v1", fields, false},
		{"", "g/v2", fields, false},
	} {
		m := schemalessManager(t, func(config *managedfields.Config) { config.Hub = c.hub })
		live := parseObject(t, `{"apiVersion":"g/v1","kind":"K","a":1,"metadata":{"managedFields":[
			{"manager":"ci","operation":"Apply","apiVersion":"`+c.apiVersion+`","fieldsType":"FieldsV1","fieldsV1":{"f:a":{}}},
			{"manager":"other","operation":"Update","apiVersion":"g/v1","fieldsType":"FieldsV1","fieldsV1":{"f:l":`+c.fields+`}}]}}`)
		plan, err := m.Plan(live, parseObject(t, `{"apiVersion":"g/v1","kind":"K","a":1}`), "ci")
		if err != nil {
			t.Fatal(err)
		}
		out, err := plan.Commit()
		if err != nil {
			t.Fatal(err)
		}
		var stamp time.Time
		for _, e := range out.Entries {
			if e.Manager == "ci" {
				stamp = e.Time
			}
		}
		if plan.Changed() != c.changed || stamp.IsZero() == c.changed {
			t.Errorf("%+v: changed %t, with the time %v", c, plan.Changed(), stamp)
		}
	}
}
