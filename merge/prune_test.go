package merge_test

import (
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

const defaultedKey = `{"types":[{"name":"root","map":{"fields":[{"name":"l","type":{"list":{"elementType":{"map":{"fields":[
	{"name":"k","type":{"scalar":"string"},"default":""}]}},"elementRelationship":"associative","keys":["k"]}}}]}}]}`

func typeOf(t *testing.T, text string) *schema.Type {
	t.Helper()
	d, err := schema.ParseDocument(parse(t, text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	root, ok := s.Type("root")
	if !ok {
		t.Fatal("no type root")
	}
	return root
}

func parse(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func typedOf(t *testing.T, root *schema.Type, text string) typed.Value {
	t.Helper()
	v, err := typed.New(parse(t, text), root)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// An applier of an empty item, which owns not even its key, loses the item by applying it again.
func TestItemsOwnedWithoutTheirKeysArePruned(t *testing.T) {
	root := typeOf(t, defaultedKey)
	fields, err := fieldpath.ParseSet([]byte(`{"f:l":{"k:{\"k\":\"\"}":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	alpha := merge.Manager{Name: "alpha", Operation: merge.Apply}
	for config, want := range map[string]string{
		`{"l":[{},{"k":"z"}]}`:       `{"l":[{"k":"z"}]}`,
		`{"l":[{"k":""},{"k":"z"}]}`: `{"l":[{"k":""},{"k":"z"}]}`,
	} {
		plan, err := merge.New(merge.Config{}).Apply(merge.Request{
			Live: typedOf(t, root, `{"l":[{"k":""}]}`), Object: typedOf(t, root, config), Manager: alpha, APIVersion: "v1",
			Managers: merge.ManagersOf(merge.Entry{Manager: alpha, Fields: fields, APIVersion: "v1"}),
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.Object().Content().String(); got != want {
			t.Errorf("%s gave %s, want %s", config, got, want)
		}
	}
}
