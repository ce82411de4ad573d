package garbage

import (
	"reflect"
	"testing"

	"github.com/deed-project/deed/managedfields"
)

// TestParse compares what parse reads of texts with what their documents say.
func TestParse(t *testing.T) {
	for _, text := range []string{
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"n","uid":"1"}}`,
		`{"metadata":{"uid":"1","name":"a","labels":{"name":"no"},"ownerReferences":[{"apiVersion":"apps/v1","blockOwnerDeletion":true,"controller":true,"kind":"Deployment","name":"web","uid":"2"},
		 {"apiVersion":"v1","blockOwnerDeletion":false,"kind":"Pod","name":"b","uid":"3"}]}, "kind" : "Pod", "spec":{"kind":"x","uid":7}, "apiVersion":"v1"}`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["x","orphan"],"name":"a","uid":"1"}}`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"deletionTimestamp":null,"finalizers":["foregroundDeletion"],"name":"a","uid":"1"}}`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"finalizers":null,"name":"\u0061","ownerReferences":null,"uid":"1"}}`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"finalizers":[],"name":"ä","ownerReferences":[{"blockOwnerDeletion":null,"uid":"2"}],"uid":"1"}}`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":7}}`,
		`{"apiVersion":"v1","kind":"Pod","metadata":null}`,
		`{"apiVersion":"v1","kind":"Pod"}`,
		`{"prefix":"none"} `,
		`{"apiVersion":"v1"`,
		`{"apiVersion":"v1"}{}`,
		`5`, `[]`, ``, "k8s\x00binary",
	} {
		got, err := parse([]byte(text))
		document, wrong := managedfields.ParseObject([]byte(text))
		want := object{}
		if wrong == nil {
			want = objectOf(document.Content)
		}
		if !reflect.DeepEqual(got, want) || (err == nil) != (wrong == nil) {
			t.Errorf("%s\n got %+v, %v\nwant %+v, %v", text, got, err, want, wrong)
		}
	}
}
