package read

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/builtin"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
)

// configMaps returns the version v1 of ConfigMaps.
func configMaps(t *testing.T) *catalog.Version {
	t.Helper()
	kinds, err := builtin.Kinds(builtin.Cluster{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(kinds, func(r *catalog.Resource) bool { return r.Plural == "configmaps" })
	return kinds[i].Versions[0]
}

// TestAsWritten checks which events use the written text: those with a known fact, if the client takes texts and nothing is filtered.
func TestAsWritten(t *testing.T) {
	maps := configMaps(t)
	request := rest.New(httptest.NewRequest(http.MethodGet, "/", nil), nil, api.Target{Namespace: "a"}, maps)
	reader := &Reader{Store: memory.New(), Now: time.Now}
	record := store.Record{
		Key: maps.Key("a", "x"), Text: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","uid":"u"}}`), Revision: 7,
	}
	if reader.View(maps).note(record) == nil {
		t.Fatal("nothing is known of the text")
	}
	unknown, elsewhere := record, record
	unknown.Revision, elsewhere.Key = 8, maps.Key("b", "x")
	everything, none := labels.Everything(), labels.Nothing()
	for _, c := range []struct {
		what   string
		labels labels.Selector
		texts  bool
		event  store.Event
		typ    string
		text   bool
	}{
		{"a new object", everything, true, store.Event{Record: record}, Added, true},
		{"another text of an object", everything, true, store.Event{Record: record, Previous: record.Text}, Modified, true},
		{"a text of which nothing is known", everything, true, store.Event{Record: unknown}, Added, false},
		{"an object that goes", everything, true, store.Event{Record: record, Deleted: true, Previous: record.Text}, Deleted, false},
		{"an object that is not selected", none, true, store.Event{Record: record}, "", false},
		{"a client that takes no texts", everything, false, store.Event{Record: record}, Added, false},
		{"somebody else's object", everything, true, store.Event{Record: elsewhere}, "", false},
	} {
		of, err := reader.Collection(request, api.ListOptions{Labels: c.labels, Fields: fields.Everything()})
		if err != nil {
			t.Fatal(err)
		}
		of.Texts = c.texts
		if e, err := of.Event(c.event); err != nil || e.Type != c.typ || (e.Text != nil) != c.text {
			t.Errorf("%s: %q, a text: %v, %v", c.what, e.Type, e.Text != nil, err)
		}
	}
}
