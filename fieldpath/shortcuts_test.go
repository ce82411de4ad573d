package fieldpath

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/value"
)

// Shortcuts give what the long way gives, so no other test notices one that is never taken. These
// tests ask whether it is taken: exactly where it is safe.

// TestFieldsArePrintedByWords prints one field of each length by words. It needs 16 bytes of text
// behind the name, which may be anything, and 24 bytes of room behind it.
func TestFieldsArePrintedByWords(t *testing.T) {
	for size := range 40 {
		for padding := 14; padding <= 17; padding++ {
			for spare := 22; spare <= 25; spare++ {
				text := texts{first: strings.Repeat("n", size) + strings.Repeat(`"`, padding)}
				leaf := []node{{at: 0, len: uint32(size), skip: 1, bits: bitsOf(KindField, text.first[:size], included)}}
				out, next, opened := appendFields(make([]byte, 0, size+spare), &text, leaf, 0)
				want, taken := "", 0
				if padding >= 16 && spare >= 24 {
					want, taken = fmt.Sprintf(`"f:%s":{},`, text.first[:size]), 1
				}
				if string(out) != want || next != taken || opened {
					t.Errorf("a name of %d bytes, %d behind it, room for %d more: printed %q, next %d, opened %t",
						size, padding, spare, out, next, opened)
				}
			}
		}
	}
}

// TestOnlyPlainNamesArePrintedByWords has each ASCII character at each place of a name. Fields below
// which there are others are opened.
func TestOnlyPlainNamesArePrintedByWords(t *testing.T) {
	for c := range byte(128) {
		for at := range 20 {
			name := strings.Repeat("A", at) + string(c) + strings.Repeat("B", 19-at)
			text := texts{first: name + strings.Repeat(" ", 16)}
			above := []node{{at: 0, len: uint32(len(name)), skip: 2, bits: bitsOf(KindField, name, 0)}}
			out, _, opened := appendFields(make([]byte, 0, 100), &text, above, 0)
			if plain := jsontext.PlainEnd(name, 0) == len(name); opened != plain {
				t.Errorf("%q is opened: %t", name, opened)
			} else if want := `"f:` + name + `":{`; plain && string(out) != want {
				t.Errorf("%q is opened by %q", name, out)
			}
		}
	}
}

// TestLeavesArePrintedAsOneRun joins leaves that stand side by side in a text, and no others.
func TestLeavesArePrintedAsOneRun(t *testing.T) {
	for text, want := range map[string]int{
		`{"f:a":{},"f:b":{},"f:longer":{}}`:                       3,
		`{"f:a":{},"f:b":{}, "f:c":{}}`:                           2,
		`{"f:a":{} ,"f:b":{}}`:                                    1,
		`{"f:a":{},"f:b":{"f:c":{}}}`:                             1,
		`{"f:a":{},"f:b":{},"k:{\"n\":1}":{}}`:                    2,
		`{"f:a":{},"f:\u0062":{}}`:                                1,
		`{"f:a":{},"f:b":{".":{}}}`:                               1,
		`{"f:` + strings.Repeat("x", 40) + `":{},"f:y":{}}`:       2,
		`{"f:a":{},"v:1":{},"f:b":{}}`:                            1,
		`{"f:a":{},"f:b":{},"f:c":{},"f:d":{},"i:1":{},"f:e":{}}`: 4,
	} {
		p := new(setParser)
		p.draft.text = []byte(text)
		p.load()
		if err := p.document(); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := loneRun(p.draft.nodes, 0); got != want {
			t.Errorf("%s begins with a run of %d leaves, not of %d", text, got, want)
		}
	}
}

// writtenTexts are read by written, if true, or else by document: they are written otherwise or have a rare form.
var writtenTexts = map[string]bool{
	`{"f:a":{}}`: true,
	`{"f:a":{},"f:b":{".":{},"f:c":{},"f:cc":{"f:d":{}}},"f:é":{}}`:                                                            true,
	`{"f:":{"f:":{"f:a":{}}},"k:{\"n\":1,\"o\":\"x\"}":{".":{},"f:n":{}},"k:{\"n\":2}":{},"v:-7":{},"v:\"s\"":{},"v:true":{}}`: true,
	strings.Repeat(`{"f:a":`, maxOpen) + `{}` + strings.Repeat("}", maxOpen):                                                   true,
	strings.Repeat(`{"f:a":`, maxOpen+1) + `{}` + strings.Repeat("}", maxOpen+1):                                               false,
	`{}`: false, `null`: false, ``: false, `{"`: false, `{"f:a":{}`: false, `{"f:a":{`: false, `{"f:a":{}}}`: false, `{"f:a":{}} `: false,
	`{"f:a":{},}`: false, `{"f:a":{}"f:b":{}}`: false, `{"f:a":{"f:b":{}}`: false, `{"f:a":{".":{},}}`: false,
	`{"f:b":{},"f:a":{}}`: false, `{"f:a":{},"f:a":{}}`: false, `{"v:2":{},"v:1":{}}`: false, `{"v:1":{},"v:1":{}}`: false,
	`{"f:a":{"f:c":{}},"f:a":{}}`: false, `{"v:1":{},"f:a":{}}`: false, `{ "f:a":{}}`: false, `{"f:a": {}}`: false, `{"f:a":null}`: false,
	`{".":{},"f:a":{}}`: false, `{"f:a":{".":{}}}`: false, `{"f:a":{"f:b":{},".":{}}}`: false, `{"f:\u0061":{}}`: false, `{"f:a\\":{}}`: false,
	`{"v:1.5":{}}`: false, `{"v:null":{}}`: false, `{"v:\"\\\"\"":{}}`: false, `{"k:{}":{}}`: false, `{"i:1":{}}`: false, `{"q:x":{}}`: false,
}

func TestWrittenTextsAreReadByOneLoop(t *testing.T) {
	for text, want := range writtenTexts {
		if taken := checkWritten(t, text); taken != want {
			t.Errorf("%s is read by written: %t", text, taken)
		}
	}
}

// TestWrittenIsDocument changes texts at random. What written reads must be what document reads.
func TestWrittenIsDocument(t *testing.T) {
	r := seeds.Rand(t)
	const pieces = `{}":,.fkv1ab\ `
	written, texts := 0, slices.Sorted(maps.Keys(writtenTexts))
	for range 20000 {
		b := []byte(texts[r.IntN(len(texts))])
		for range r.IntN(3) {
			i := r.IntN(len(b) + 1)
			switch r.IntN(3) {
			case 0:
				b = slices.Insert(b, i, pieces[r.IntN(len(pieces))])
			case 1:
				b = slices.Delete(b, i, min(i+1+r.IntN(8), len(b)))
			default:
				b = slices.Insert(b, i, slices.Clone(b[i:min(i+r.IntN(20), len(b))])...)
			}
		}
		if checkWritten(t, string(b)) {
			written++
		}
	}
	if written < 800 {
		t.Errorf("only %d texts were read by written", written)
	}
}

func FuzzWritten(f *testing.F) {
	seeds.Fuzz(f, slices.Sorted(maps.Keys(writtenTexts)), func(t *testing.T, text string) { checkWritten(t, text) })
}

// checkWritten reports whether written reads text. It compares the set with that of document, node by node. If
// written gives up, document must not notice.
func checkWritten(t *testing.T, text string) bool {
	t.Helper()
	slow := new(setParser)
	slow.draft.text = []byte(text)
	want, _, canonical, wantErr := slow.parse()
	p := new(setParser)
	got, taken := p.written(text)
	if taken {
		if wantErr != nil || !canonical || got.texts.first != want.texts.first || !slices.Equal(got.nodes, want.nodes) {
			t.Errorf("%s is read as %v by written, and as %v by document (canonical: %t, error %v)", text, got, want, canonical, wantErr)
		}
		return true
	}
	p.draft.text = []byte(text)
	got, _, _, err := p.parse()
	if !got.Equal(want) || (err == nil) != (wantErr == nil) {
		t.Errorf("%s is read as %v (error %v) after written, and as %v (error %v) without it", text, got, err, want, wantErr)
	}
	return false
}

// TestElementsKnowTheirSpelling reads elements as they are printed, all of which are found in their
// text, and elements in other spellings, which are not.
func TestElementsKnowTheirSpelling(t *testing.T) {
	for text, quotes := range map[string]string{
		`{"f:a":{},"f:b":{".":{},"f:c":{}},"k:{\"n\":\"x\"}":{"f:d":{}},"v:1":{},"v:true":{},"v:\"s\"":{}}`: "LQLQLQQQ",
		`{"f:a":{},"k:{\"n\":1234567890123456789}":{},"v:1.5":{},"i:3":{}}`:                                 "L...",
		`{"f:a" :{},"f:\u0062":{},"v: 1":{}}`:                                                               "Q..",
	} {
		s, err := ParseSet([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got := ""
		for i := range s.nodes {
			switch n := &s.nodes[i]; {
			case n.has(lone):
				got += "L"
			case n.has(quoted):
				got += "Q"
			default:
				got += "."
			}
		}
		if got != quotes {
			t.Errorf("%s: the spellings of the elements are known as %s, not as %s", text, got, quotes)
		}
	}
}

// TestElementsOfMapsAreNamed reads fields, keys and items from maps, each of which has its name at
// hand when it is compared with another map; what has other spellings has not.
func TestElementsOfMapsAreNamed(t *testing.T) {
	for name, want := range map[string]bool{
		"f:a": true, `k:{"n":"x"}`: true, `k:{"n":1,"o":true}`: true, `v:"s"`: true, "v:17": true, "v:false": true,
		"v:1.5": false, `v:{"a":1}`: false, `k:{"n":[]}`: false, "i:3": false,
	} {
		s, canonical, err := fromAny(map[string]any{name: map[string]any{}})
		if err != nil || !canonical || len(s.nodes) != 1 {
			t.Fatalf("%s is read as %v (canonical: %t), %v", name, s, canonical, err)
		}
		if got := s.nodes[0].has(named); got != want {
			t.Errorf("%s has its name at hand: %t", name, got)
		}
	}
}

// TestSelfHasOneSpelling reads members named "." in other spellings: they count, but nobody writes them
// so.
func TestSelfHasOneSpelling(t *testing.T) {
	want, _, _, err := parseCanonical(`{"f:a":{".":{},"f:b":{}}}`)
	if err != nil {
		t.Fatal(err)
	}
	for text, canonical := range map[string]bool{
		`{"f:a":{".":{},"f:b":{}}}`:        true,
		`{"f:a":{"\u002e":{},"f:b":{}}}`:   false,
		`{"f:a":{"f:b":{},".":{}}}`:        false,
		`{"f:a":{".":{},".":{},"f:b":{}}}`: false,
		`{"f:a":{".":null,"f:b":{}}}`:      false,
	} {
		got, _, is, err := parseCanonical(text)
		if err != nil || is != canonical || !got.Equal(want) {
			t.Errorf("%s is %v (canonical: %t), %v", text, got, is, err)
		}
	}
}

// TestTextsAreJoined unites sets that come from texts of their own: up to four texts are kept as they
// are, and no more.
func TestTextsAreJoined(t *testing.T) {
	var all Set
	for i, want := range []int{1, 2, 3, 4, 2, 3, 4} {
		s, err := ParseSet(fmt.Appendf(nil, `{"f:%c":{},"f:x":{"f:%c":{}}}`, 'a'+i, 'a'+i))
		if err != nil {
			t.Fatal(err)
		}
		if all = all.Union(s); all.texts.count() != want {
			t.Errorf("the union of %d sets has %d texts, not %d", i+1, all.texts.count(), want)
		}
	}
}

// TestStepsAreCounted counts the nodes that are passed when two sets are combined.
func TestStepsAreCounted(t *testing.T) {
	a, errA := ParseSet([]byte(`{"f:a":{},"f:b":{"f:c":{},"f:d":{}},"f:e":{}}`))
	b, errB := ParseSet([]byte(`{"f:b":{"f:d":{},"f:f":{}},"f:e":{},"f:g":{}}`))
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	// a, b with b, c of b beside d, d with d, and e with e; what is left of one set is not looked at.
	const want = 5
	for name, run := range map[string]func(){
		"Union": func() { a.Union(b) }, "Intersect": func() { a.Intersect(b) }, "Minus": func() { a.Minus(b) },
	} {
		if got := work.Record(run).Steps; got != want {
			t.Errorf("%s passes %d nodes, not %d", name, got, want)
		}
	}
}

// TestDepthIsThatOfDocuments reads fieldsV1 as deep as documents may be, and one deeper, with all
// that is read as one at the innermost level.
func TestDepthIsThatOfDocuments(t *testing.T) {
	for _, inner := range []string{`{}`, `{"f:b":{}}`, `{"f:b":{},"f:c":{}}`, `{".":{},"f:b":{}}`, `{"k:{\"n\":1}":{}}`, `{".":{}}`} {
		for depth := value.MaxDepth - 3; depth <= value.MaxDepth+1; depth++ {
			text := []byte(strings.Repeat(`{"f:a":`, depth) + inner + strings.Repeat("}", depth))
			doc, refused := value.Parse(text)
			if _, err := ParseSet(text); (err == nil) != (refused == nil) {
				t.Errorf("%s below %d others: %v, and as a document: %v", inner, depth, err, refused)
			}
			if refused != nil {
				continue
			}
			if _, canonical, err := fromValue(doc); err != nil || !canonical && inner != `{".":{}}` {
				t.Errorf("%s below %d others, as a document: %v, canonical: %t", inner, depth, err, canonical)
			}
			if _, canonical, err := fromAny(doc.ToAny().(map[string]any)); err != nil || !canonical && inner != `{".":{}}` {
				t.Errorf("%s below %d others, as a map: %v, canonical: %t", inner, depth, err, canonical)
			}
		}
	}
}

// TestMembersOfMapsAreSorted sorts the members of a map behind others, few and many, with names that
// differ early and late.
func TestMembersOfMapsAreSorted(t *testing.T) {
	r := seeds.Rand(t)
	name := func() string {
		kind := []string{"f:", "k:", "v:"}[r.IntN(3)]
		common := []string{"", "a", "commonpr", "commonprefix"}[r.IntN(4)]
		for range r.IntN(10) {
			common += string(rune('a' + r.IntN(3)))
		}
		return kind + common
	}
	for size := range 3 * maxInsertion {
		p := &setParser{keys: []sortKey{{bytes: 1, index: 7}}}
		const top = 3
		for range top + size {
			p.maps = append(p.maps, mapMember{name: name()})
		}
		p.sorted(top)
		var got, want []string
		for _, k := range p.keys[1:] {
			got = append(got, p.maps[k.index].name)
		}
		for _, m := range p.maps[top:] {
			want = append(want, m.name)
		}
		slices.SortFunc(want, func(a, b string) int {
			head := func(s string) string { return (s[len("f:"):] + strings.Repeat("\x00", 8))[:8] }
			if c := strings.Compare(head(a), head(b)); c != 0 {
				return c
			}
			return strings.Compare(a, b)
		})
		if !slices.Equal(got, want) {
			t.Fatalf("%d members are sorted as %q, not as %q", size, got, want)
		}
		if p.keys[0] != (sortKey{bytes: 1, index: 7}) {
			t.Fatalf("of %d members, the key of another map was changed", size)
		}
	}
}
