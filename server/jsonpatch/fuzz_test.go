package jsonpatch

import (
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/value"
)

// FuzzPatch applies the patch in the second line to the object in the first. Nothing may panic, and the object must not change. The text of
// the outcome must be that of the document.
func FuzzPatch(f *testing.F) {
	const document = `{"a":[1,{"b":null}],"c":{"/~":"x"}}` + "\n"
	seeds.Fuzz(f, []string{
		document + `[{"op":"add","path":"/a/-","value":{"b":[1.0]}},{"op":"test","path":"/a/0","value":null}]`,
		document + `[{"op":"move","from":"/a","path":"/c/~0~1"},{"op":"remove","path":"/a/-1"}]`,
		document + `[{"op":"copy","from":"","path":"/a/0"},{"op":"replace","path":"","value":[]}]`, document + `[{"path":1}]`, document + `null`,
	}, func(t *testing.T, input string) {
		document, text, _ := strings.Cut(input, "\n")
		before, err := value.Parse([]byte(document))
		if err != nil || before.Kind() != value.KindObject {
			return
		}
		patch, err := Decode([]byte(text))
		if err != nil {
			return
		}
		was := before.String()
		after, err := Apply(t.Context(), patch, before)
		if before.String() != was {
			t.Errorf("%s became %s", was, before)
		}
		if err != nil {
			return
		}
		spelled, err := Text(t.Context(), patch, before)
		if err != nil {
			t.Fatalf("there is a document, and no text: %v", err)
		}
		if got, err := parseLast(spelled, nil); err != nil || !got.Equal(after) {
			t.Errorf("the text is %s, the document %v; %v", spelled, after, err)
		}
	})
}
