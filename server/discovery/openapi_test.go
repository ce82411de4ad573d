package discovery

import (
	"testing"

	"github.com/deed-project/deed/server/catalog"
)

// TestDocumentsAreKept serves another resource, which changes no document of other groups, and one more in a group, which does.
func TestDocumentsAreKept(t *testing.T) {
	resource := func(group, plural string) *catalog.Resource {
		r := &catalog.Resource{Group: group, Plural: plural, Singular: plural, Kind: "Kind" + plural, ListKind: "List" + plural, Custom: true}
		r.Versions = []*catalog.Version{{Resource: r, Name: "v1"}}
		return r
	}
	first, second, more := resource("g0.org", "things"), resource("g1.org", "things"), resource("g0.org", "more")
	var d *openAPIDocuments
	d = d.next(catalog.New(first))
	kept := d.of("g0.org", "v1")
	if d = d.next(catalog.New(first, second)); d.of("g0.org", "v1") != kept {
		t.Error("a resource of another group makes a document anew")
	}
	d = d.next(catalog.New(first, second, more))
	both := d.of("g0.org", "v1")
	if both.hash == kept.hash {
		t.Error("a resource more changes nothing in the document of its group")
	}
	if d = d.next(catalog.New(first, more)); d.of("g0.org", "v1") != both {
		t.Error("a resource less in another group makes a document anew")
	}
}
