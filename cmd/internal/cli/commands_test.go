package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/testobjects"
	"github.com/deed-project/deed/internal/testing/seeds"
)

// readers are the command lines that read a stored object from standard input.
var readers = [][]string{
	{"blame"}, {"blame", "-o", "yaml"}, {"blame", "-o", "html"}, {"blame", "--manager", "m1"}, {"fields"},
	{"fields", "--both", "m0,m1", "-o", "json"}, {"explain", ".metadata"}, {"explain", ".spec", "-o", "json"},
	{"extract", "--field-manager", "m0"}, {"check", "-o", "json"}, {"validate"}, {"migrate", "--from", "m0"},
	{"transfer", "--from", "m0", "--to", "m1"}, {"transfer", "--from", "m1", "--to", "m2:Update", "-o", "patch"},
}

// TestReaders checks that no object makes a command fail by a defect: neither a whole one, nor a truncated one, nor one with a changed
// byte.
func TestReaders(t *testing.T) {
	r := seeds.Rand(t)
	for i, o := range testobjects.Owned(t) {
		text := o.Object.AppendJSON(nil)
		for j, args := range readers {
			if (i+j)%4 != 0 {
				continue
			}
			cut := text[:r.IntN(len(text))]
			damaged := bytes.Clone(text)
			damaged[r.IntN(len(damaged))] = "{}[]\":,0fk."[r.IntN(11)]
			for k, in := range [][]byte{text, cut, damaged} {
				var out, stderr strings.Builder
				code := Run(args, bytes.NewReader(in), &out, &stderr)
				if code == notice.ExitInternal || k == 0 && code == notice.ExitInput && args[0] != "explain" && args[0] != "migrate" {
					t.Errorf("%s of %s: exit code %d, %s", fmt.Sprint(args), in, code, stderr.String())
				}
			}
		}
	}
}
