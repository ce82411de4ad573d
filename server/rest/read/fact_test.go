package read

import (
	"strings"
	"testing"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// TestFacts looks up paths in the text of an object, and prints parts of it with a resource version.
func TestFacts(t *testing.T) {
	const text = `{"apiVersion":"v1","b":[{"x":1}],"kind":"Thing","metadata":{"annotations":{"a.b":"\"}"},"labels":{"l":"1"},` +
		`"name":"one","uid":"2"},"spec":{"a":{"b":{"c":true},"e":[]},"n":1.5,"t":"\\\"x"},"status":null}`
	object, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	sorted := object.AppendJSON(nil)
	known, ok := factOf(&catalog.Version{}, sorted)
	if !ok {
		t.Fatal("the text is not as it should be")
	}
	for _, path := range []string{
		"apiVersion", "kind", "metadata.name", "metadata.labels", "metadata.labels.l", "metadata.labels.m", "metadata.annotations.a", "spec",
		"spec.a", "spec.a.b.c", "spec.a.b.c.d", "spec.a.d", "spec.n", "spec.t", "spec.t.x", "status", "status.x", "b", "b.x", "none", "spec.a.e",
	} {
		names := strings.Split(path, ".")
		want, got := object.Get(names...), known.lookup(sorted, names)
		if want.IsAbsent() != (got == nil) || got != nil && want.String() != string(got) {
			t.Errorf("%s is %q, want %v", path, got, want)
		}
	}
	versioned := WithVersion(object, 7)
	if got, want := known.appendTo(nil, sorted, 7, false), versioned.AppendJSON(nil); string(got) != string(want) {
		t.Errorf("with a version it is\n%s\nwant\n%s", got, want)
	}
	if got, want := known.appendMetadata(nil, sorted, 7), versioned.Get("metadata").AppendJSON(nil); string(got) != string(want) {
		t.Errorf("the metadata is\n%s\nwant\n%s", got, want)
	}
	if got, want := string(known.labels.in(sorted)), object.Get("metadata", "labels").String(); got != want {
		t.Errorf("the labels are %s, want %s", got, want)
	}
	if got, want := string(known.name.in(sorted)), object.Get("metadata", "name").String(); got != want {
		t.Errorf("the name is %s, want %s", got, want)
	}
	for _, other := range []string{
		``, `[]`, `{}`, strings.Replace(text, `"uid"`, `"resourceVersion":"1","uid"`, 1), strings.Replace(text, `"kind"`, `"kinds"`, 1),
		strings.Replace(text, `{"apiVersion"`, `{"an":1,"apiVersion"`, 1), strings.Replace(text, `,"uid":"2"`, ``, 1), text[:100],
	} {
		if _, ok := factOf(&catalog.Version{}, []byte(other)); ok {
			t.Errorf("something is known of %s", other)
		}
	}
}

// TestFactsByVersion caches facts about a text in two versions, of two resources. It drops them with the text and with a resource.
func TestFactsByVersion(t *testing.T) {
	var f facts
	a, b := &catalog.Version{Resource: &catalog.Resource{}}, &catalog.Version{Resource: &catalog.Resource{}}
	ofA, ofB := &fact{version: a}, &fact{version: b}
	put := func() {
		f.put(1, ofA)
		f.put(1, ofB)
		f.put(1, &fact{version: a})
		f.put(2, &fact{version: b})
	}
	put()
	if f.get(a, 1) != ofA || f.get(b, 1) != ofB || f.get(a, 2) != nil || f.get(a, 3) != nil {
		t.Error("facts are not found by revision and version")
	}
	if all := f.all(nil, a, []store.Record{{Revision: 1}, {Revision: 2}}); len(all) != 2 || all[0] != ofA || all[1] != nil {
		t.Errorf("of two records is known %v", all)
	}
	f.drop(a.Resource)
	if f.get(a, 1) != nil || f.get(b, 2) == nil {
		t.Error("a resource is not forgotten, or another one is")
	}
	put()
	f.forget(1)
	for r := range store.Revision(sharedEvents) {
		if f.get(a, 1) != ofA {
			t.Fatalf("a text is forgotten when %d others are to be", r)
		}
		f.forget(3 + r)
	}
	if f.get(a, 1) != nil || f.get(b, 1) != nil || f.get(b, 2) == nil {
		t.Error("a text is not forgotten, or another one is")
	}
}
