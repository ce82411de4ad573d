package wire

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"
)

// FuzzIndent cuts texts into pieces and compares the result with json.Indent of the whole text.
func FuzzIndent(f *testing.F) {
	for _, text := range []string{
		`{}`, `[]`, ` { } `, `[[],{}]`, `{"a":{"b":[1,2,{"c":null}]},"d":"e"}`, `"\"\\"`, `{"a\\":"{[,:]}","b":"\\\""}`, `1`, "\n[ 1 ,\t2 ]\r\n",
	} {
		f.Add(text, uint64(1))
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		if !json.Valid([]byte(text)) {
			return
		}
		var want bytes.Buffer
		if err := json.Indent(&want, []byte(text), "", "  "); err != nil {
			t.Fatal(err)
		}
		var n indenter
		var got []byte
		random := rand.New(rand.NewPCG(seed, 0))
		for rest := []byte(text); len(rest) > 0; {
			k := 1 + random.IntN(len(rest))
			got, rest = n.append(got, rest[:k]), rest[k:]
		}
		if string(got) != string(bytes.TrimRight(want.Bytes(), " \t\r\n")) {
			t.Errorf("%q\nbecomes %q\nwant    %q", text, got, want.Bytes())
		}
	})
}
