package jsonpatch

import (
	"fmt"
	"strings"
	"testing"
)

// TestOutcome prints outcomes in the order of the library, and refuses patches that would make it copy for long.
func TestOutcome(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000)
	doubled := `[` + strings.Repeat(`{"op":"copy","from":"/z","path":"/z/b"},`, 10) + strings.Repeat(`{"op":"add","path":"/c","value":1},`, 50)
	for _, c := range []struct {
		name, document, patch, want string
		of                          func(document, patch []byte) ([]byte, error)
	}{
		{"operations", `{"z":{"y":1,"x":2},"b":{"d":1,"c":2}}`, `[{"op":"add","path":"/b/a","value":3}]`, `{"b":{"a":3,"c":2,"d":1},"z":{"y":1,"x":2}}`, Outcome},
		{"a merge", `{"z":{"y":1,"x":2},"b":{"d":1,"c":2}}`, `{"b":{"a":3}}`, `{"b":{"a":3,"c":2,"d":1},"z":{"y":1,"x":2}}`, MergeOutcome},
		{"copies", `{"z":{}}`, doubled + `{"op":"add","path":"/d","value":1}]`, "", Outcome},
		{"a long path", deep, fmt.Sprintf(`[{"op":"add","path":%q,"value":1}]`, strings.Repeat("/a", 4000)), "", Outcome},
		{"a deep merge", deep, deep, "", MergeOutcome},
		{"no patch", `{}`, `{`, "", Outcome},
	} {
		got, err := c.of([]byte(c.document), []byte(c.patch))
		if string(got) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %s %v, want %s", c.name, got, err, c.want)
		}
	}
}
