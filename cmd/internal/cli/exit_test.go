package cli

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/cmd/internal/notice"
)

// exitFiles holds the files that the commands of exitCases read.
var exitFiles = map[string]string{
	"passing.yaml":        "cases: [{name: a, object: config.yaml, expect: allowed}]",
	"failing.yaml":        "cases: [{name: a, object: config.yaml, expect: denied}]",
	"refused-policy.yaml": "{policies: [policy.yaml], cases: [{name: a, object: config.yaml, expect: allowed}]}",
	"policy.yaml":         "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: a}}",
	"empty.yaml":          "",
	"config.yaml":         `{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: "1"}}`,
	"bare.yaml":           `{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}`,
	"other.yaml":          `{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: "2"}}`,
	"unknown.yaml":        `{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, dat: {}}`,
	"mistyped.yaml":       `{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: 1}}`,
	"twice.yaml":          `{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: "1", a: "2"}}`,
	"text.yaml":           `{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {type: Odd}}`,
	"old.yaml":            `{apiVersion: extensions/v1beta1, kind: Ingress, metadata: {name: i}}`,
	"strange.yaml":        `{apiVersion: example.org/v1, kind: Widget, metadata: {name: w}}`,
	"nameless.yaml":       `{apiVersion: v1, kind: ConfigMap}`,
	"broken.yaml":         `{apiVersion: v1, kind: ConfigMap, metadata: {name: `,
	"live.yaml": `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, managedFields: [{manager: x, operation: Apply, apiVersion: v1, ` +
		`fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:a": {}}}}]}, data: {a: "1"}}`,
	"created.yaml": `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, managedFields: [{manager: kubectl, operation: Apply, apiVersion: v1, ` +
		`fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:a": {}}}}]}, data: {a: "1"}}`,
	"stuck.yaml": `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, managedFields: [{manager: before-first-apply, operation: Update, ` +
		`apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:a": {}}}}]}, data: {a: "1"}}`,
	"lost.yaml": `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, annotations: ` +
		`{kubectl.kubernetes.io/last-applied-configuration: "{}"}}, data: {a: "1"}}`,
	"history.yaml": `steps: [{manager: a, object: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: "1"}}}]`,
	"conflict.yaml": `steps: [{manager: a, object: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: "1"}}}, ` +
		`{manager: b, object: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: "2"}}}]`,
	"refused.yaml": `steps: [{manager: a, object: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, dat: {}}}]`,
	"good.yaml":    `{apiVersion: config.kubernetes.io/v1, kind: ResourceList, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}]}`,
	"bad.yaml":     `{apiVersion: config.kubernetes.io/v1, kind: ResourceList, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, dat: {}}]}`,
	// Commands of Helm, which is sh in this test.
	"status":   "echo 'Error: release: not found' >&2\nexit 1\n",
	"upgrade":  "cat \"$2\"\n",
	"one.json": `{"name": "c", "apply_method": "ssa", "manifest": "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: '1'}}"}`,
	"two.json": `{"name": "c", "apply_method": "ssa", "manifest": "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: '2'}}"}`,

	"schema.yaml":  `types: [{name: t, map: {fields: [{name: a, type: {scalar: string}}]}}]`,
	"schema2.yaml": `types: [{name: t, map: {fields: [{name: b, type: {scalar: string}}]}}]`,
}

// exitCases holds command lines by the path of a command and the wanted exit code.
var exitCases = map[string]map[int][]string{
	"apply": {
		0: {"-f config.yaml", "-f other.yaml --live live.yaml --force-conflicts"},
		1: {"-f other.yaml --live live.yaml", "-f unknown.yaml", "-f live.yaml"},
		2: {"-f empty.yaml", "-f config.yaml --live empty.yaml", "-f strange.yaml", "-f config.yaml --crd empty.yaml", "--nope"},
	},
	"update": {
		0: {"-f other.yaml --live live.yaml"},
		1: {"-f unknown.yaml", "-f text.yaml"},
		2: {"-f empty.yaml", "-f strange.yaml"},
	},
	"plan": {
		0: {"-f config.yaml", "-f config.yaml --live created.yaml --exit-code"},
		1: {"-f other.yaml --live live.yaml", "-f text.yaml", "-f config.yaml --exit-code", "-f other.yaml --live created.yaml --exit-code"},
		2: {"-f empty.yaml", "-f strange.yaml", "-f other.yaml --live live.yaml --force-manager nobody"},
	},
	"diff": {
		0: {"-f config.yaml --live created.yaml", "-f config.yaml --live created.yaml -o json"},
		1: {"-f config.yaml", "-f config.yaml -o json", "-f other.yaml --live live.yaml"},
		2: {"-f empty.yaml", "-f strange.yaml"},
	},
	"replay":   {0: {"-f history.yaml"}, 1: {"-f conflict.yaml", "-f refused.yaml"}, 2: {"-f empty.yaml", "-f config.yaml"}},
	"blame":    {0: {"-f live.yaml"}, 2: {"-f empty.yaml", "-f strange.yaml", "-f live.yaml --manager nobody"}},
	"fields":   {0: {"-f live.yaml"}, 2: {"-f empty.yaml", "-f live.yaml --manager nobody"}},
	"explain":  {0: {"-f live.yaml .data.a"}, 2: {"-f empty.yaml .data.a", "-f live.yaml .dat"}},
	"extract":  {0: {"-f live.yaml --field-manager x"}, 1: {"-f live.yaml --field-manager y"}, 2: {"-f empty.yaml", "-f strange.yaml"}},
	"check":    {0: {"-f live.yaml"}, 1: {"-f stuck.yaml"}, 2: {"-f empty.yaml", "-f live.yaml --ignore-code nothing", "-f live.yaml --crd empty.yaml"}},
	"validate": {0: {"-f config.yaml"}, 1: {"-f unknown.yaml"}, 2: {"-f empty.yaml", "-f strange.yaml", "-f config.yaml --crd empty.yaml"}},
	"migrate":  {0: {"--live live.yaml"}, 1: {"--live lost.yaml"}, 2: {"--live empty.yaml", "--live live.yaml --from nobody"}},
	"transfer": {
		0: {"--live live.yaml --from x --to y"},
		1: {"--live live.yaml --from z --to y", "--live live.yaml --from x --to y -f bare.yaml"},
		2: {"--live empty.yaml --from x --to y", "--live live.yaml"},
	},
	"helm plan":      {0: {"c one.json --live live.yaml"}, 1: {"c two.json --live live.yaml"}, 2: {"c", "c missing.json", "c one.json --live empty.yaml"}},
	"krm":            {0: {"< good.yaml"}, 1: {"< bad.yaml"}, 2: {"", "< config.yaml", "config.yaml"}},
	"policy test":    {0: {"passing.yaml"}, 1: {"failing.yaml", "refused-policy.yaml"}, 2: {"empty.yaml", "config.yaml", "passing.yaml --jobs x"}},
	"schema list":    {0: {"v1/Pod"}, 1: {"nothing"}, 2: {"--crd empty.yaml"}},
	"schema show":    {0: {"v1/Pod"}, 2: {"v1/Pot", "v1/Pod --crd empty.yaml"}},
	"schema convert": {0: {"schema.yaml"}, 2: {"empty.yaml", "missing.yaml"}},
	"schema diff":    {0: {"schema.yaml schema.yaml"}, 1: {"schema.yaml schema2.yaml"}, 2: {"schema.yaml empty.yaml", "schema.yaml"}},
	"version":        {0: {""}, 2: {"nothing"}},
	"help":           {0: {"apply"}, 2: {"nothing"}},

	"completion bash":       {0: {""}, 2: {"nothing"}},
	"completion zsh":        {0: {""}, 2: {"nothing"}},
	"completion fish":       {0: {""}, 2: {"nothing"}},
	"completion powershell": {0: {""}, 2: {"nothing"}},
}

// inExitFiles makes a directory with exitFiles the working directory.
func inExitFiles(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range exitFiles {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	t.Setenv("HELM_BIN", "sh")
}

// runLine runs a command line, and returns its exit code and its standard error. Behind a < stands the file for standard input.
func runLine(line string) (int, string) {
	var out, stderr strings.Builder
	line, file, _ := strings.Cut(line, "< ")
	in := exitFiles[file]
	var full Full // as in deed, but for commands that deed leaves to deed-validate as a whole
	if strings.HasPrefix(line, "policy") {
		full = validating
	}
	code := RunWith(full, strings.Fields(line), strings.NewReader(in), &out, &stderr)
	return code, stderr.String()
}

// TestExitCodes runs each command to each of its exit codes. Every command has the codes 0 and 2, and the code 1 exactly if findingOf
// describes it.
func TestExitCodes(t *testing.T) {
	inExitFiles(t)
	root := newCLI(nil, nil, nil).rootCommand()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	var known []string
	for _, cmd := range commandsBelow(root) {
		path := pathOf(cmd)
		known = append(known, path)
		want := []int{notice.ExitDone, notice.ExitInput}
		if findingOf[path] != "" {
			want = []int{notice.ExitDone, notice.ExitFinding, notice.ExitInput}
		}
		if got := slices.Sorted(maps.Keys(exitCases[path])); !slices.Equal(got, want) {
			t.Errorf("%s has cases for the exit codes %v, want %v", path, got, want)
		}
	}
	for _, table := range []string{strings.Join(slices.Sorted(maps.Keys(exitCases)), ","), strings.Join(slices.Sorted(maps.Keys(findingOf)), ",")} {
		for path := range strings.SplitSeq(table, ",") {
			if !slices.Contains(known, path) {
				t.Errorf("there is no command %q", path)
			}
		}
	}
	for path, cases := range exitCases {
		for want, lines := range cases {
			for _, line := range lines {
				if got, said := runLine(path + " " + line); got != want {
					t.Errorf("%s %s: exit code %d, want %d: %s", path, line, got, want, said)
				}
			}
		}
	}
}

// TestOneManifestOneCode checks that an invalid manifest has the same exit code in all commands. The code is 1 if a server refuses the
// manifest, and 2 if deed cannot read it.
func TestOneManifestOneCode(t *testing.T) {
	inExitFiles(t)
	for file, want := range map[string]int{
		"unknown.yaml": notice.ExitFinding, "mistyped.yaml": notice.ExitFinding, "twice.yaml": notice.ExitFinding,
		"text.yaml": notice.ExitFinding, "old.yaml": notice.ExitFinding,
		"strange.yaml": notice.ExitInput, "nameless.yaml": notice.ExitInput, "broken.yaml": notice.ExitInput, "empty.yaml": notice.ExitInput,
	} {
		for _, command := range []string{"validate", "apply", "plan", "plan -o json", "diff", "diff -o json", "update"} {
			line := command + " -f " + file
			if got, said := runLine(line); got != want {
				t.Errorf("%s: exit code %d, want %d: %s", line, got, want, said)
			}
		}
	}
}

// The page with the table of exit codes, and the marks around the table.
const (
	exitPage  = "../../../docs/cli.md"
	exitBegin = "<!-- exit codes, by -update -->\n"
	exitEnd   = "<!-- end of exit codes -->\n"
)

// TestExitPage checks that docs/cli.md has the current tables of exit codes. With -update, it writes them.
func TestExitPage(t *testing.T) {
	page, err := os.ReadFile(exitPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(page), exitBegin)
	_, after, foundEnd := strings.Cut(rest, exitEnd)
	if !found || !foundEnd {
		t.Fatalf("%s lacks %q and %q", exitPage, exitBegin, exitEnd)
	}
	var b strings.Builder
	b.WriteString("| code | meaning |\n|---|---|\n")
	for code, meaning := range notice.ExitCodes {
		fmt.Fprintf(&b, "| %d | %s |\n", code, meaning)
	}
	b.WriteString("\n| command | 1 means |\n|---|---|\n")
	for _, path := range slices.Sorted(maps.Keys(findingOf)) {
		fmt.Fprintf(&b, "| `deed %s` | %s |\n", path, findingOf[path])
	}
	want := before + exitBegin + b.String() + exitEnd + after
	switch {
	case want == string(page):
	case *update:
		if err := os.WriteFile(exitPage, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the tables of exit codes in %s are not those of the code; -update writes them", exitPage)
	}
}
