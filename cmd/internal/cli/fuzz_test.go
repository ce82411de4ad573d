package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/internal/yaml"
)

// FuzzRun checks three laws for any input: no command fails by a defect, the output can be read again, and unusable input is reported.
func FuzzRun(f *testing.F) {
	const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n"
	f.Add(uint8(0), config)
	f.Add(uint8(1), config+"---\n"+config)
	f.Add(uint8(2), `{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}]}`)
	f.Add(uint8(3), "steps:\n- {manager: m, object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}\n- {manager: n, operation: update, patch: {data: {a: b}}}\n")
	f.Add(uint8(0), "a: [\n---\nkind: {}\n")
	commands := [][]string{{"apply", "--schemaless"}, {"update"}, {"plan", "-o", "json"}, {"replay", "-o", "json", "--schemaless"}}
	f.Fuzz(func(t *testing.T, command uint8, input string) {
		args := commands[int(command)%len(commands)]
		if args[0] == "replay" && strings.ContainsAny(input, "/.") {
			return // the input names files
		}
		var stdout, stderr bytes.Buffer
		code := Run(args, strings.NewReader(input), &stdout, &stderr)
		switch {
		case code == notice.ExitInternal:
			t.Fatalf("%s fails: %s", args[0], &stderr)
		case code == notice.ExitInput && stderr.Len() == 0:
			t.Fatalf("%s does not say what is wrong", args[0])
		}
		if _, err := yaml.Parse("", stdout.Bytes()); err != nil {
			t.Fatalf("%s prints what cannot be read: %v\n%s", args[0], err, &stdout)
		}
	})
}
