package extras

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"k8s.io/apimachinery/pkg/util/json"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/value"
)

// TestRepairedTexts checks that a repairing Decoder that allows duplicate names accepts exactly the texts of kube-apiserver's decoder, with
// the same values.
func TestRepairedTexts(t *testing.T) {
	pieces := []string{
		"\t", "\n", "\x00", `\n`, `\u0041`, `\ud800`, `\udc00`, `\ud83d\ude00`, "\xff", "\xc3", "é", `"`, `\"`, "null", ",", ":", "{", "}", "[", "]",
		"1", "-", "0", "1e5", "1e400", "1.5", `"a":1,`, `"\u0061":2,`, `"b":{},`, "true", " ", "a", "12345678901234567890", "\u2028", `\/`, `\x`,
	}
	piece := func(r *rand.Rand) string { return pieces[r.IntN(len(pieces))] }
	r := seeds.Rand(t)
	read := 0
	for range 40 * rounds {
		text := fmt.Sprintf(`{"a":{"b":[1,"%s",{"%s":%s}],"a":2},"\ud83d\ude00":"x%sy","a":[]}`, piece(r), piece(r), piece(r), piece(r))
		for range r.IntN(3) {
			at := r.IntN(len(text))
			text = text[:at] + piece(r) + text[min(at+r.IntN(3), len(text)):]
		}
		var theirs map[string]any
		theirErr := json.Unmarshal([]byte(text), &theirs)
		d := value.Decoder{Repair: true, Repeats: true}
		ours, err := d.Parse([]byte(text))
		if ours.Kind() != value.KindObject && err == nil && theirErr != nil {
			continue // the reference only decodes objects
		}
		if (err == nil) != (theirErr == nil) {
			t.Fatalf("%q: error %v, and %v of the reference", text, err, theirErr)
		}
		if err != nil {
			continue
		}
		read++
		if want, err := value.FromAny(theirs); err != nil || !ours.Equal(want) {
			t.Fatalf("%q is %v, and %v to the reference (error %v)", text, ours, want, err)
		}
	}
	if read < rounds {
		t.Errorf("only %d texts were read", read)
	}
}
