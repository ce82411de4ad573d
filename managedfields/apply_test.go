package managedfields_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/internal/testing/kindtest"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
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

// typeOf returns the type called root of a schema document.
func typeOf(t *testing.T, document string) *schema.Type {
	t.Helper()
	d, err := schema.ParseDocument(kindtest.Parse(t, document))
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	root, ok := s["root"]
	if !ok {
		t.Fatal("no type root")
	}
	return root
}

// atomicRoot is the type of objects that are one value. It knows managed fields.
const atomicRoot = `{"types":[{"name":"root","map":{"elementRelationship":"atomic","elementType":{"scalar":"untyped"},"fields":[
	{"name":"metadata","type":{"map":{"fields":[{"name":"managedFields","type":{"list":{
		"elementRelationship":"atomic","elementType":{"map":{"elementType":{"scalar":"untyped"}}}}}}]}}}]}}]}`

// Nothing is left of an atomic object that is pruned, and nothing cannot be converted.
func TestPrunedAtomicObjectsAreNotConverted(t *testing.T) {
	root := typeOf(t, atomicRoot)
	m := schemalessManager(t, func(c *managedfields.Config) { c.Types["g/v1"] = root })
	live := parseObject(t, `{"apiVersion":"g/v1","b":0,"kind":"K","metadata":null,"x":1}`)
	live.Entries = []managedfields.Entry{{
		Manager: "alpha", Operation: merge.Apply, APIVersion: "g/v2", FieldsType: "FieldsV1", FieldsV1: managedfields.FieldsOf(`{"f:b":{}}`),
	}}
	_, err := m.Apply(live, parseObject(t, `{"apiVersion":"g/v1","kind":"K"}`), "alpha", false)
	const want = "failed to prune fields: failed add back dangling items: failed to convert pruned object to last applied version: " +
		"failed to convert value to unstructured for type <nil>"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// What is wrong with the stored object is said before what is wrong with the configuration.
func TestOrderOfChecks(t *testing.T) {
	undecodable := parseObject(t, `{"apiVersion":"g/v1","kind":"K","metadata":{"managedFields":[{"operation":"Apply"}]}}`)
	_, err := schemalessManager(t, nil).Apply(undecodable, parseObject(t, `{}`), "alpha", false)
	var bad *managedfields.EntryError
	if !errors.As(err, &bad) || bad.Index != 0 {
		t.Errorf("got %v, want an error about entry 0", err)
	}
}

// widening makes objects of g/v1 from those of g/v2, which have a field less.
type widening struct{}

func (widening) Convert(object value.Value, apiVersion string) (value.Value, error) {
	return object.With("apiVersion", value.String(apiVersion)).With("more", value.Int(1)), nil
}

// An apply that changes nothing leaves the object in the version that it is stored in, and does not convert it there and back.
func TestUnchangedObjectsStayAsTheyAre(t *testing.T) {
	m := schemalessManager(t, func(c *managedfields.Config) { c.Converter = widening{} })
	live := parseObject(t, `{"apiVersion":"g/v2","kind":"K","spec":{"a":1}}`)
	for config, want := range map[string]string{
		`{"apiVersion":"g/v1","kind":"K","more":1}`: `{"apiVersion":"g/v2","kind":"K","spec":{"a":1}}`,
		`{"apiVersion":"g/v1","kind":"K","more":2}`: `{"apiVersion":"g/v1","kind":"K","more":2,"spec":{"a":1}}`,
	} {
		out, err := m.Apply(live, parseObject(t, config), "alpha", true)
		if err != nil {
			t.Fatal(err)
		}
		if got := out.Content.String(); got != want {
			t.Errorf("%s gave %s, want %s", config, got, want)
		}
	}
}

// An applier that owned managed fields, as data, prunes them, so its apply counts as a change.
func TestPrunedManagedFieldsAreAChange(t *testing.T) {
	const alpha = `{"apiVersion":"g/v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:managedFields":{}},"f:spec":{}},` +
		`"manager":"alpha","operation":"Apply"}`
	for others, want := range map[string]bool{``: true, `,` + strings.Replace(alpha, "alpha", "beta", 1): false} {
		live := parseObject(t, `{"apiVersion":"g/v1","kind":"K","metadata":{"name":"n","managedFields":[`+alpha+others+`]},"spec":1}`)
		out, err := schemalessManager(t, nil).Apply(live, parseObject(t, `{"apiVersion":"g/v1","kind":"K","spec":1}`), "alpha", false)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(text(t, out), `"time":"2000-01-01T00:00:00Z"`); got != want {
			t.Errorf("changed %t, want %t: %s", got, want, text(t, out))
		}
	}
}

// TestNotMade asks field managers that New did not make, and plans of no apply.
func TestNotMade(t *testing.T) {
	config := kindtest.New(t, `"metadata":{"name":"a"}`)
	for _, m := range []*managedfields.FieldManager{nil, {}} {
		if got, err := m.Apply(managedfields.Object{}, config, "ann", true); err == nil {
			t.Errorf("an apply gives %v", got)
		}
		if got, err := m.Update(managedfields.Object{}, config, "ann"); err == nil {
			t.Errorf("an update gives %v", got)
		}
	}
	for _, types := range []map[string]*schema.Type{nil, {kindtest.Version: nil}} {
		if m, err := managedfields.New(managedfields.Config{GVK: schema.ParseGVK(kindtest.Version, "Thing"), Types: types}); err == nil {
			t.Errorf("the types %v give %v", types, m)
		}
	}
	for _, p := range []*managedfields.Plan{nil, {}} {
		if got, err := p.Commit(); err == nil {
			t.Errorf("no plan is committed as %v", got)
		}
		if got, err := p.Force(); err == nil {
			t.Errorf("no plan is forced to %v", got)
		}
		if p.Conflicts() != nil || p.TakenOver() != nil || p.Changed() {
			t.Errorf("no plan has the conflicts %v, takes over %v, and changes the object: %v", p.Conflicts(), p.TakenOver(), p.Changed())
		}
		for d := range p.Decisions() {
			t.Errorf("no plan decides %v", d)
		}
	}
}
