package discovery

import (
	"bytes"
	"testing"

	"github.com/deed-project/deed/server/aggregation"
	"github.com/deed-project/deed/server/cache"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/openapi"
	"github.com/deed-project/deed/value"
)

// TestDocumentsAreKept serves another resource, which changes no document of other groups, and one more in a group, which does.
func TestDocumentsAreKept(t *testing.T) {
	resource := func(group, plural string) *catalog.Resource {
		r := &catalog.Resource{Group: group, Plural: plural, Singular: plural, Kind: "Kind" + plural, ListKind: "List" + plural, Custom: true}
		r.Versions = []*catalog.Version{{Resource: r, Name: "v1"}}
		return r
	}
	first, second, more := resource("g0.org", "things"), resource("g1.org", "things"), resource("g0.org", "more")
	const path = "apis/g0.org/v1"
	var d *openAPIDocuments
	var none aggregation.Aggregator
	d = d.next(catalog.New(first), &none, openapi.Server{}, 0)
	hashOf := func() string {
		hash, err := d.hash(path)
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	hash := hashOf()
	if d = d.next(catalog.New(first, second), &none, openapi.Server{}, 0); d.hashes[path] != hash {
		t.Error("a resource of another group makes a document anew")
	}
	d = d.next(catalog.New(first, second, more), &none, openapi.Server{}, 0)
	both := hashOf()
	if both == hash {
		t.Error("a resource more changes nothing in the document of its group")
	}
	if d = d.next(catalog.New(first, more), &none, openapi.Server{}, 0); d.hashes[path] != both {
		t.Error("a resource less in another group makes a document anew")
	}
}

// TestTextsAreMadeAgain drops the texts of a document, as other documents do that take the budget, and gets the same text again.
func TestTextsAreMadeAgain(t *testing.T) {
	d := (*openAPIDocuments)(nil).next(catalog.New(), &aggregation.Aggregator{}, openapi.Server{}, 0)
	for _, form := range []string{asJSON, asProtobuf, asJSON + zipped} {
		want, hash, err := d.text("version", form)
		if err != nil {
			t.Fatal(err)
		}
		d.texts = &cache.Cache[openAPIText, []byte]{}
		got, again, err := d.text("version", form)
		if err != nil || hash != again || len(got) == 0 || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes and then %d, %v", form, len(want), len(got), err)
		}
	}
}

// TestEscapes looks for characters that kube-apiserver escapes in documents of v3 and not in the document of v2.
func TestEscapes(t *testing.T) {
	r := &catalog.Resource{Group: "g.org", Plural: "things", Kind: "Thing", Custom: true}
	r.Versions = []*catalog.Version{{Resource: r, Name: "v1", Schema: value.Object(
		value.Member{Name: "type", Value: value.String("object")}, value.Member{Name: "description", Value: value.String(`<&>\u003c`)},
	)}}
	d := (*openAPIDocuments)(nil).next(catalog.New(r), &aggregation.Aggregator{}, openapi.Server{}, 0)
	for path, want := range map[string]string{
		v2Path: `"<&>\\u003c"`, "apis/g.org/v1": `"\u003c\u0026\u003e\\u003c"`,
	} {
		if text, _, err := d.text(path, asJSON); err != nil || !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s: no %s in %d bytes, %v", path, want, len(text), err)
		}
	}
}
