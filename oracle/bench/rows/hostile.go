package rows

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	peerfieldpath "sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	peermerge "sigs.k8s.io/structured-merge-diff/v6/merge"
	peertyped "sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/oracle/bench/fixture"
	"github.com/deed-project/deed/oracle/bench/measure"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

func hostileRows() []Row {
	return append([]Row{
		hostile("conflicts", 8000, conflicts),
		hostile("validate-objects-as-keys", 8000, func(n int) (sides, error) {
			return oddly(objectsAsKeys(n, "x"), nil, func(a, _ typed.Value) (typed.Value, error) {
				return typed.New(a.Content(), a.Type())
			}, func(a, _ *peertyped.TypedValue) (*peertyped.TypedValue, error) {
				return peertyped.AsTyped(a.AsValue(), a.Schema(), a.TypeRef())
			})
		}),
		hostile("merge-objects-as-keys", 4000, func(n int) (sides, error) {
			live, config := objectsAsKeys(n, "x"), objectsAsKeys(n, "y")
			slices.Reverse(config["list"].([]any))
			return oddly(live, config, typed.Merge, (*peertyped.TypedValue).Merge)
		}),
		hostile("extract-by-one-set", 4000, extractWide),
		hostile("remove-items", 20000, removeItems),
		hostile("remove-items-shuffled", 20000, func(n int) (sides, error) { return removeOf(shuffled(n)) }),
		hostile("update-of-updaters", 1000, updaters),
		hostile("update-of-updaters", 10000, updaters),
	}, hostileTexts()...)
}

// hostile makes a row of work whose inputs are of size n.
func hostile(name string, n int, build func(n int) (sides, error)) Row {
	return Row{
		Name:  fmt.Sprintf("%s/%d", name, n),
		build: func() (sides, error) { return build(n) }, quarter: func() (sides, error) { return build(n / 4) },
	}
}

// oddSchema is that of an object with a list whose keys may be anything, and with objects in objects.
const oddSchema = `{"types":[{"name":"root","map":{"fields":[{"name":"list","type":{"list":{
	"elementRelationship":"associative","keys":["key"],"elementType":{"map":{"fields":[
		{"name":"key","type":{"namedType":"__untyped_atomic_"}},{"name":"value","type":{"scalar":"string"}}]}}}}},
	{"name":"deep","type":{"namedType":"deep"}}]}},
	{"name":"deep","map":{"elementType":{"namedType":"deep"}}},
	{"name":"__untyped_atomic_","scalar":"untyped","list":{"elementType":{"namedType":"__untyped_atomic_"},"elementRelationship":"atomic"},
		"map":{"elementType":{"namedType":"__untyped_atomic_"},"elementRelationship":"atomic"}}]}`

// oddType returns the type called root of oddSchema.
var oddType = sync.OnceValues(func() (*schema.Type, error) {
	v, err := value.Parse([]byte(oddSchema))
	if err != nil {
		return nil, err
	}
	d, err := schema.ParseDocument(v)
	if err != nil {
		return nil, err
	}
	compiled, err := schema.Compile(d)
	if err != nil {
		return nil, err
	}
	root := compiled["root"]
	return root, nil
})

// peerOddTypes are the types of oddSchema as the peer has them.
var peerOddTypes = sync.OnceValues(func() (*peertyped.Parser, error) { return peertyped.NewParser(oddSchema) })

// objectsAsKeys has n items, each with an object as its key.
func objectsAsKeys(n int, text string) map[string]any {
	items := make([]any, n)
	for i := range items {
		items[i] = map[string]any{"key": map[string]any{"id": int64(i)}, "value": text}
	}
	return map[string]any{"list": items}
}

// inBoth returns an object in both engines. nil makes an empty one.
func inBoth(object map[string]any) (typed.Value, *peertyped.TypedValue, error) {
	root, err1 := oddType()
	parser, err2 := peerOddTypes()
	if err := errors.Join(err1, err2); err != nil {
		return typed.Value{}, nil, err
	}
	if object == nil {
		object = map[string]any{}
	}
	content, err := value.FromAny(object)
	if err != nil {
		return typed.Value{}, nil, err
	}
	v, err := typed.New(content, root)
	if err != nil {
		return typed.Value{}, nil, err
	}
	p, err := parser.Type("root").FromUnstructured(object)
	return v, p, err
}

// oddly makes sides of work on two objects of oddSchema.
func oddly(
	first, second map[string]any, deed func(a, b typed.Value) (typed.Value, error),
	peer func(a, b *peertyped.TypedValue) (*peertyped.TypedValue, error),
) (sides, error) {
	a, peerA, errA := inBoth(first)
	b, peerB, errB := inBoth(second)
	return sides{
		deed: func() (measure.Worker, error) {
			var out typed.Value
			run := func() (err error) { out, err = deed(a, b); return err }
			return measure.Worker{Run: run, Answer: func() (string, error) { return canonical(out.Content()) }}, nil
		},
		peer: func() (measure.Worker, error) {
			var out *peertyped.TypedValue
			run := func() (err error) { out, err = peer(peerA, peerB); return err }
			return measure.Worker{Run: run, Answer: func() (string, error) { return canonical(out.AsValue().Unstructured()) }}, nil
		},
	}, errors.Join(errA, errB)
}

// within makes sides of work on one object of oddSchema and one set.
func within(
	object map[string]any, set fieldpath.Set, deed func(typed.Value, fieldpath.Set) typed.Value,
	peer func(*peertyped.TypedValue, *peerfieldpath.Set) *peertyped.TypedValue,
) (sides, error) {
	peerSet := peerfieldpath.NewSet()
	if err := peerSet.FromJSON(bytes.NewReader(set.AppendJSON(nil))); err != nil {
		return sides{}, err
	}
	return oddly(object, nil, func(v, _ typed.Value) (typed.Value, error) { return deed(v, set), nil },
		func(v, _ *peertyped.TypedValue) (*peertyped.TypedValue, error) { return peer(v, peerSet), nil })
}

// extractWide extracts n objects by one set of n fields: rule X6.
func extractWide(n int) (sides, error) {
	members, paths := map[string]any{}, []fieldpath.Path{{fieldpath.Field("deep")}}
	for i := range n {
		name := fmt.Sprintf("m%d", i)
		members[name] = map[string]any{name: map[string]any{"m0": nil}}
		paths = append(paths, fieldpath.Path{fieldpath.Field(name)})
	}
	return within(map[string]any{"deep": members}, fieldpath.SetOf(paths...), typed.Value.Extract,
		func(v *peertyped.TypedValue, s *peerfieldpath.Set) *peertyped.TypedValue { return v.ExtractItems(s) })
}

// removeItems removes every second of n items.
func removeItems(n int) (sides, error) {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = i
	}
	return removeOf(ids)
}

// shuffled returns the numbers below n in an order that no walk of them in their order helps with.
func shuffled(n int) []int { return rand.New(rand.NewPCG(1, 2)).Perm(n) }

// removeOf removes the items with even keys from a list of items with these keys.
func removeOf(ids []int) (sides, error) {
	items, paths := make([]any, len(ids)), []fieldpath.Path{}
	for i, id := range ids {
		items[i] = map[string]any{"key": int64(id), "value": "x"}
		if id%2 == 0 {
			key := fieldpath.Key(fieldpath.KeyField{Name: "key", Value: value.Int(int64(id))})
			paths = append(paths, fieldpath.Path{fieldpath.Field("list"), key})
		}
	}
	return within(map[string]any{"list": items}, fieldpath.SetOf(paths...), typed.Value.Remove,
		func(v *peertyped.TypedValue, s *peerfieldpath.Set) *peertyped.TypedValue { return v.RemoveItems(s) })
}

// conflicts applies a configuration that changes n items that another manager owns, and lists the conflicts.
func conflicts(n int) (sides, error) {
	object := func(text string) map[string]any {
		items := make([]any, n)
		for i := range items {
			items[i] = map[string]any{"key": fmt.Sprintf("VARIABLE_%05d", i), "value": text}
		}
		return map[string]any{"list": items}
	}
	live, peerLive, err1 := inBoth(object("old"))
	config, peerConfig, err2 := inBoth(object("new"))
	if err := errors.Join(err1, err2); err != nil {
		return sides{}, err
	}
	peerFields, err := peerLive.ToFieldSet()
	if err != nil {
		return sides{}, err
	}
	return sides{
		deed: func() (measure.Worker, error) {
			owner := merge.Entry{Manager: merge.Manager{Name: "owner", Operation: merge.Apply}, APIVersion: "v1", Fields: live.Fields()}
			request := merge.Request{Live: live, Object: config, Managers: merge.ManagersOf(owner), APIVersion: "v1",
				Manager: merge.Manager{Name: "applier", Operation: merge.Apply}}
			var found merge.Conflicts
			run := func() error {
				plan, err := merge.New(merge.Config{}).Apply(request)
				if err == nil {
					found = plan.Conflicts()
				}
				return err
			}
			return measure.Worker{Run: run, Answer: func() (string, error) {
				return sortedLines(len(found), func(i int) string { return found[i].Path.String() }), nil
			}}, nil
		},
		peer: func() (measure.Worker, error) {
			managers := peerfieldpath.ManagedFields{"owner": peerfieldpath.NewVersionedSet(peerFields, "v1", true)}
			updater := (&peermerge.UpdaterBuilder{Converter: oneVersion{}}).BuildUpdater()
			var found peermerge.Conflicts
			run := func() error {
				_, _, err := updater.Apply(peerLive, peerConfig, "v1", managers, "applier", false)
				if !errors.As(err, &found) {
					return fmt.Errorf("no conflicts, but %v", err)
				}
				return nil
			}
			return measure.Worker{Run: run, Answer: func() (string, error) {
				return sortedLines(len(found), func(i int) string { return found[i].Path.String() }), nil
			}}, nil
		},
	}, nil
}

func sortedLines(n int, line func(int) string) string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = line(i)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// oneVersion converts between versions of the peer that are the same.
type oneVersion struct{}

func (oneVersion) Convert(v *peertyped.TypedValue, _ peerfieldpath.APIVersion) (*peertyped.TypedValue, error) {
	return v, nil
}

func (oneVersion) IsMissingVersionError(error) bool { return false }

// updaters updates an object that has n updaters of one version, each of which owns one label.
func updaters(n int) (sides, error) {
	labels, entries := map[string]any{}, make([]any, n)
	for i := range entries {
		name := fmt.Sprintf("label-%05d", i)
		labels[name] = "x"
		entries[i] = metav1.ManagedFieldsEntry{
			Manager: fmt.Sprintf("updater-%05d", i), Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:` + name + `":{}}}}`),
		}
	}
	object := func(changed string, entries []any) ([]byte, error) {
		labels["label-00000"] = changed
		metadata := map[string]any{"name": "p", "namespace": "d", "labels": labels}
		if entries != nil {
			metadata["managedFields"] = entries
		}
		return json.Marshal(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
	}
	live, err1 := object("x", entries)
	sent, err2 := object("y", nil)
	if err := errors.Join(err1, err2); err != nil {
		return sides{}, err
	}
	return request{fixture.BuiltIn("v1", "ConfigMap"), update, fixture.Creator, live, sent, false}.sides(maps)
}

// deepSet returns a set whose n paths are as deep as a twentieth of n, siblings in descending order.
func deepSet(n int) []byte {
	var b strings.Builder
	depth := n / 20
	for range depth {
		b.WriteString(`{"f:z":`)
	}
	b.WriteString(`{}`)
	for range depth {
		for i := 19; i > 0; i-- {
			fmt.Fprintf(&b, `,"f:m%02d":{}`, i)
		}
		b.WriteString(`}`)
	}
	return []byte(b.String())
}
