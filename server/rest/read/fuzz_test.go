package read

import (
	"net/url"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// FuzzSelector matches an object by its document and by its text. Both must agree. The lines of an input are two selectors, the name and
// the value of a label, and a field.
func FuzzSelector(f *testing.F) {
	var corpus []string
	for _, labels := range []string{"a=b", "a!=b,c", "!a", "a in (b,c),d notin (e)", "a>1,a<3", ""} {
		corpus = append(corpus, labels+"\nspec.node=x,metadata.name!=b\na\nb\nx", labels+"\n\na\n2\n\"\\")
	}
	version := &catalog.Version{Resource: &catalog.Resource{Prefix: "/registry/things/", Namespaced: true}, Fields: []string{"spec.node", "spec.on"}}
	seeds.Fuzz(f, corpus, func(t *testing.T, input string) {
		lines := strings.SplitN(input+"\n\n\n\n", "\n", 5)
		options, err := api.ParseListOptions(url.Values{"labelSelector": lines[:1], "fieldSelector": lines[1:2]})
		if err != nil {
			return
		}
		s, err := newSelector(version, options)
		if err != nil {
			return
		}
		member := func(name string, v value.Value) value.Member { return value.Member{Name: name, Value: v} }
		object := value.Object(member("apiVersion", value.String("v1")), member("kind", value.String("Thing")), member("metadata", value.Object(
			member("labels", value.Object(member(lines[2], value.String(lines[3])))), member("name", value.String("b")),
			member("namespace", value.String("c")), member("uid", value.String("d")))),
			member("spec", value.Object(member("node", value.String(lines[4])), member("on", value.Bool(true)))))
		text := object.AppendJSON(nil)
		known, ok := factOf(version, text)
		if !ok {
			t.Fatalf("nothing is known of %s", text)
		}
		want := s.matches(object)
		got := s.inTexts && s.matchesText(&inText{store.Record{Key: "/registry/things/c/b", Text: text}, known})
		if got != want {
			t.Errorf("%q select %s: by its document %t, by its text %t", lines[:2], text, want, got)
		}
	})
}
