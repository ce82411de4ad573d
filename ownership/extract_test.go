package ownership_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/deed-project/deed/internal/testing/kindtest"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/typed"
)

func TestExtract(t *testing.T) {
	const content = `"metadata":{"name":"one","namespace":"here","labels":{"a":"1","b":"2"}},
		"spec":{"replicas":3,"args":["-a"],"containers":[
			{"name":"main","image":"i1","dir":{"size":1},"ports":[{"port":80,"protocol":"TCP","hostPort":1},{"port":81,"protocol":"UDP"}]},
			{"name":"side","image":"i2"}]}`
	const identity = `"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"one","namespace":"here"}`
	for _, test := range []struct{ name, entries, want string }{
		{"no entry", ``, `absent`},
		{"an updater", entryText("Update", "", `{"f:spec":{"f:replicas":{}}}`), `absent`},
		{"another subresource", entryText("Apply", "status", `{"f:spec":{"f:replicas":{}}}`), `absent`},
		{"nothing owned", entryText("Apply", "", `{}`), `{` + identity + `}`},
		{"the first of several", entryText("Apply", "", `{"f:spec":{"f:replicas":{}}}`) + `,` + entryText("Apply", "", `{"f:spec":{"f:args":{}}}`),
			`{` + identity + `,"spec":{"replicas":3}}`},
		{"what the object lacks", entryText("Apply", "", `{"f:spec":{"f:replicas":{},"f:gone":{}}}`), `{` + identity + `,"spec":{"replicas":3}}`},
		{"with the keys that are needed", entryText("Apply", "", `{"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{"f:hostPort":{}}}}}}}`),
			`{` + identity + `,"spec":{"containers":[{"name":"main","ports":[{"hostPort":1,"port":80}]}]}}`},
		{"an item and nothing of it", entryText("Apply", "", `{"f:spec":{"f:containers":{"k:{\"name\":\"side\"}":{}}}}`),
			`{` + identity + `,"spec":{"containers":[{"name":"side"}]}}`},
		{"containers as far as they are led to", entryText("Apply", "", `{"f:metadata":{"f:labels":{".":{},"f:b":{}}}}`),
			`{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"labels":{"b":"2"},"name":"one","namespace":"here"}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := kindtest.New(t, content)
			o.Entries = kindtest.Entries(t, `[`+test.entries+`]`)
			got, err := ownership.Extract(o, kindtest.Type, "ann", "")
			if err != nil {
				t.Fatal(err)
			}
			if test.want == "absent" {
				if !got.IsAbsent() {
					t.Errorf("got %v", got)
				}
			} else if !got.Equal(kindtest.Parse(t, test.want)) {
				t.Errorf("got  %v\nwant %v", got, test.want)
			}
		})
	}
}

// entryText is an entry of ann.
func entryText(operation, subresource, fields string) string {
	return `{"manager":"ann","operation":"` + operation + `","subresource":"` + subresource +
		`","apiVersion":"example.com/v1","fieldsType":"FieldsV1","fieldsV1":` + fields + `}`
}

func TestExtractRefuses(t *testing.T) {
	twice := kindtest.New(t, `"spec":{"containers":[{"name":"a"},{"name":"a"}]}`)
	var errs typed.Errors
	if _, err := ownership.Extract(twice, kindtest.Type, "ann", ""); !errors.As(err, &errs) {
		t.Errorf("an object with an item twice: %v", err)
	}
	unreadable := kindtest.New(t, "")
	unreadable.Entries = kindtest.Entries(t, `[`+entryText("Apply", "", `{"f":{}}`)+`]`)
	var entry *managedfields.EntryError
	if _, err := ownership.Extract(unreadable, kindtest.Type, "ann", ""); !errors.As(err, &entry) || entry.Index != 0 {
		t.Errorf("an unreadable set: %v", err)
	}
}

// To apply again what was extracted changes nothing, neither the object nor who owns what.
func TestExtractAndApply(t *testing.T) {
	applied := 0
	kindtest.Histories(t, func(t *testing.T, r *rand.Rand, o managedfields.Object) {
		m := kindtest.Manager(nil)
		for _, e := range o.Entries {
			if e.Operation != merge.Apply {
				continue
			}
			config, err := ownership.Extract(o, kindtest.Type, e.Manager, "")
			if err != nil {
				t.Error(err)
				return
			}
			change, err := ownership.WouldChange(m, o, managedfields.Object{Content: config}, e.Manager)
			if err != nil || change.Object || len(change.Conflicts) > 0 {
				t.Errorf("%s applies %v: %+v, %v", e.Manager, config, change, err)
			}
			if change.Ownership {
				after, err := m.Apply(o, managedfields.Object{Content: config}, e.Manager, true)
				t.Errorf("%s applies %v: owners\n%s%v", e.Manager, config, kindtest.Show(t, after.Entries), err)
			}
			applied++
		}
	})
	if applied < 100 {
		t.Errorf("only %d appliers", applied)
	}
}
