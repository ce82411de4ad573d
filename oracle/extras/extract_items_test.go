package extras

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	smdpath "sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	smdtyped "sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// TestExtractItems checks that extracting and removing fields gives the answers of the reference. Types and values are random. Some sets
// have items without identity, from lists whose relationship is undefined.
func TestExtractItems(t *testing.T) {
	open := 0
	for seed := range seeds.Each(t, 2000) {
		c := gen.Seeded(seed)
		s := gen.NewSchema(c)
		if c.Chance(30) {
			s.OpenLists(c)
		}
		compiled, err := schema.Compile(s.Document)
		if err != nil && !s.Open {
			t.Fatal(err)
		}
		parser, err := smdtyped.NewParser(smdtyped.YAMLObject(s.Document.Value().AppendJSON(nil)))
		if err != nil {
			t.Fatal(err)
		}
		root := compiled["root"]
		values := gen.Values{Choices: c, Depth: 4, Duplicates: c.Chance(30)}
		content := values.Of(root)
		v, err := typed.New(content, root, typed.AllowDuplicates)
		smd, smdErr := parser.Type("root").FromUnstructured(content.ToAny(), smdtyped.AllowDuplicates)
		if err != nil || smdErr != nil {
			continue // another test compares the errors
		}
		fields := v.Fields()
		smdFields, err := smd.ToFieldSet()
		if err != nil {
			t.Fatal(err)
		}
		some, known := fieldpath.Set{}, smdpath.NewSet()
		if _, err := smdFields.ToJSON(); err != nil {
			open++ // the paths of items without identity have no text
		} else {
			some = gen.Subset(c, fields)
			if err := known.FromJSON(bytes.NewReader(some.AppendJSON(nil))); err != nil {
				t.Fatal(err)
			}
		}
		for name, answers := range map[string][2]any{
			"extract all":         {v.Extract(fields).Content(), unwrapped(smd.ExtractItems(smdFields))},
			"extract all leaves":  {v.Extract(fields.Leaves()).Content(), unwrapped(smd.ExtractItems(smdFields.Leaves()))},
			"extract some":        {v.Extract(some).Content(), unwrapped(smd.ExtractItems(known))},
			"extract some leaves": {v.Extract(some.Leaves()).Content(), unwrapped(smd.ExtractItems(known.Leaves()))},
			"extract with keys":   {typing.ExtractWithKeys(v, some.Leaves()).Content(), unwrapped(smd.ExtractItems(known.Leaves(), smdtyped.WithAppendKeyFields()))},
			"remove all":          {v.Remove(fields).Content(), unwrapped(smd.RemoveItems(smdFields))},
			"remove some":         {v.Remove(some).Content(), unwrapped(smd.RemoveItems(known))},
		} {
			if got, want := fmt.Sprint(answers[0]), fmt.Sprint(answers[1]); got != want {
				t.Fatalf("seed %d: %s of %v\n  deed %s\n  want %s\nset %v\nschema %v", seed, name, content, got, want, some, s.Document.Value())
			}
		}
	}
	if open < 50 {
		t.Errorf("only %d values had items without identity", open)
	}
}

// TestMergeOfExtracted merges a configuration that was extracted without some keys and also repeats an item. The message names both
// problems.
func TestMergeOfExtracted(t *testing.T) {
	text := []byte(`{"types":[{"name":"root","map":{"fields":[{"name":"l","type":{"list":{
		"elementRelationship":"associative","keys":["k"],"elementType":{"map":{"fields":[
			{"name":"k","type":{"scalar":"string"}},{"name":"n","type":{"scalar":"numeric"}}]}}}}}]}}]}`)
	parser, err := smdtyped.NewParser(smdtyped.YAMLObject(text))
	if err != nil {
		t.Fatal(err)
	}
	d, err := schema.ParseDocument(parsed(t, string(text)))
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := schema.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	root := compiled["root"]
	both := func(document string) (typed.Value, *smdtyped.TypedValue) {
		v := parsed(t, document)
		own, err := typed.New(v, root, typed.AllowDuplicates)
		if err != nil {
			t.Fatal(err)
		}
		smd, err := parser.Type("root").FromUnstructured(v.ToAny(), smdtyped.AllowDuplicates)
		if err != nil {
			t.Fatal(err)
		}
		return own, smd
	}
	config, smdConfig := both(`{"l":[{"k":"a","n":1},{"k":"b","n":1},{"k":"b","n":2},{"k":"c","n":1},{"k":"c","n":1}]}`)
	key := func(name string) fieldpath.Element {
		return fieldpath.Key(fieldpath.KeyField{Name: "k", Value: value.String(name)})
	}
	list := fieldpath.Field("l")
	set := fieldpath.SetOf(fieldpath.Path{list, key("a"), fieldpath.Field("n")}, fieldpath.Path{list, key("b")}, fieldpath.Path{list, key("c")})
	known := smdpath.NewSet()
	if err := known.FromJSON(bytes.NewReader(set.AppendJSON(nil))); err != nil {
		t.Fatal(err)
	}
	live, smdLive := both(`{"l":[{"k":"z"}]}`)
	_, err = typed.Merge(live, config.Extract(set))
	_, want := smdLive.Merge(smdConfig.ExtractItems(known))
	if err == nil || want == nil || err.Error() != want.Error() || !strings.Contains(err.Error(), "duplicate entries") {
		t.Errorf("%v\nwant %v", err, want)
	}
}

func parsed(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// unwrapped returns the content of v in deed's form.
func unwrapped(v *smdtyped.TypedValue) value.Value {
	out, err := value.FromAny(v.AsValue().Unstructured())
	if err != nil {
		panic(err)
	}
	return out
}
