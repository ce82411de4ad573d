package ownership_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/kindtest"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/schema"
)

var checkConfig = ownership.CheckConfig{Versions: ownership.Versions{
	Types: map[string]*schema.Type{"example.com/v1": kindtest.Type, "example.com/v2": kindtest.Type},
}}

// checkCases has for each code an object that is found to have it, and what else is found.
var checkCases = []struct {
	name, content, entries string
	want                   string
}{
	{"nothing", `"spec":{"replicas":1}`, entry("ann", "Apply", "v1", "1", `{"f:spec":{"f:replicas":{}}}`), ``},
	{"cannot be read", ``, entry("ann", "Delete", "v1", "1", `{}`) + "," + entry("bob", "Apply", "v1", "1", `{"f":{}}`), `
		0 undecodable
		1 undecodable`},
	{"names", `"spec":{"replicas":1}`, entry(`an\u0007n`, "Apply", "v1", "1", `{"f:spec":{"f:replicas":{}}}`) + "," +
		entry(strings.Repeat("a", 129), "Apply", "v1", "1", `{"f:spec":{"f:replicas":{}}}`) + "," +
		strings.Replace(entry("ann", "Apply", "v1", "1", `{"f:spec":{"f:replicas":{}}}`), `{`, `{"subresource":"`+strings.Repeat("s", 257)+`",`, 1), `
		0 invalid-manager
		1 invalid-manager
		2 invalid-subresource`},
	{"twice", `"spec":{"replicas":1}`, entry("ann", "Apply", "v1", "1", `{"f:spec":{"f:replicas":{}}}`) + "," + entry("ann", "Apply", "v2", "1", `{"f:spec":{"f:replicas":{}}}`), `
		0 duplicate-identity`},
	{"not twice", `"spec":{"replicas":1}`, entry("ann", "Update", "v1", "1", `{"f:spec":{"f:replicas":{}}}`) + "," + entry("ann", "Update", "v2", "1", `{"f:spec":{"f:replicas":{}}}`), ``},
	{"an unknown version", `"spec":{"replicas":1}`, entry("ann", "Apply", "v9", "1", `{"f:spec":{"f:replicas":{}}}`), `0 unknown-version`},
	{"empty", ``, entry("ann", "Apply", "v1", "1", `{}`), `0 empty-set`},
	{"out of order, as printers that sort names leave it", `"spec":{"containers":[{"name":"a","ports":[{"port":80},{"port":443}]}]}`,
		entry("ann", "Apply", "v1", "1", `{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{"f:ports":{"k:{\"port\":443,\"protocol\":\"TCP\"}":{},"k:{\"port\":80,\"protocol\":\"TCP\"}":{}}}}}}`), ``},
	{"written in another way", `"spec":{"replicas":1,"args":[]}`, entry("ann", "Apply", "v1", "1", `{"f:spec":{"f:replicas":{"q:x":{}}}}`), `0 not-canonical`},
	{"undeclared", `"spec":{"replicas":1}`, entry("ann", "Apply", "v1", "1", `{"f:spec":{"f:replicas":{},"f:x":{".":{},"f:y":{}},"k:{\"a\":1}":{}}}`), `
		0 undeclared-path .spec.x
		0 undeclared-path .spec[a=1]`},
	{"into what is atomic", `"spec":{"args":["-a"]}`, entry("ann", "Apply", "v1", "1", `{"f:spec":{"f:args":{"v:\"-a\"":{}}}}`), `0 stale-path .spec.args[="-a"]`},
	{"not in the object", `"spec":{"replicas":1}`, entry("ann", "Apply", "v2", "1", `{"f:spec":{"f:args":{},"f:quota":{".":{},"f:cpu":{}},"f:replicas":{}}}`), `
		0 absent-path .spec.args
		0 absent-path .spec.quota`},
	{"not in the object, each path but once, and behind one with more elements one with fewer", `"spec":{"replicas":1}`,
		entry("ann", "Apply", "v1", "1", `{"f:metadata":{"f:labels":{".":{},"f:a":{}}},"f:spec":{"f:args":{},"f:quota":{"f:cpu":{}}}}`) + "," +
			entry("bob", "Apply", "v1", "1", `{"f:metadata":{".":{},"f:annotations":{"f:a":{}}},"f:spec":{".":{},"f:args":{}}}`), `
		0 absent-path .metadata.labels
		0 absent-path .spec.args
		0 absent-path .spec.quota.cpu
		1 absent-path .metadata.annotations.a
		1 absent-path .spec.args`},
	{"an object without anything, of which paths above and below each other are owned", ``,
		entry("ann", "Apply", "v1", "1", `{"f:metadata":{".":{},"f:labels":{"f:a":{}}},"f:spec":{".":{},"f:quota":{"f:cpu":{}},"f:replicas":{}}}`), `
		0 absent-path .metadata.labels.a
		0 absent-path .spec`},
	{"half an item", `"spec":{"containers":[{"name":"a","image":"i"},{"name":"b"}]}`,
		entry("ann", "Apply", "v1", "1", `{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:image":{},"f:name":{}},"k:{\"name\":\"b\"}":{".":{},"f:name":{}}}}}`) + "," +
			entry("bob", "Apply", "v1", "1", `{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}},"k:{\"name\":\"b\"}":{".":{},"f:name":{}}}}}`), `
		1 orphan-item .spec.containers[name="a"]`},
	{"client-side apply by another name", `"metadata":{"name":"one","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"}}`,
		entry("helm", "Update", "v1", "1", `{"f:metadata":{"f:annotations":{"f:kubectl.kubernetes.io/last-applied-configuration":{}}}}`), `0 client-side-apply`},
	{"both operations", `"spec":{"replicas":1}`, entry("ann", "Apply", "v1", "1", `{"f:spec":{"f:replicas":{}}}`) + "," +
		entry("ann", "Update", "v2", "1", `{"f:spec":{"f:replicas":{}}}`) + "," + entry("bob", "Update", "v2", "1", `{"f:spec":{"f:replicas":{}}}`), `
		1 split-manager`},
	{"both operations, of which one through a subresource", `"spec":{"replicas":1}`, entry("ann", "Apply", "v1", "1", `{"f:spec":{"f:replicas":{}}}`) + "," +
		strings.Replace(entry("ann", "Update", "v2", "1", `{"f:spec":{"f:replicas":{}}}`), `{`, `{"subresource":"scale",`, 1), ``},
	{"stuck", `"spec":{"replicas":1}`, entry("kubectl-client-side-apply", "Update", "v1", "1", `{"f:spec":{"f:replicas":{}}}`) + "," +
		entry("before-first-apply", "Update", "v1", "1", `{"f:spec":{"f:replicas":{}}}`) + "," +
		entry("ancient-changes", "Update", "v1", "1", `{"f:spec":{"f:replicas":{}}}`) + "," +
		entry("before-first-apply", "Apply", "v1", "1", `{"f:spec":{"f:replicas":{}}}`), `
		0 client-side-apply
		1 before-first-apply
		2 ancient-changes`},
	{"too many", `"spec":{"replicas":1}`, manyUpdaters(11), `-1 too-many-updaters`},
	{"not too many", `"spec":{"replicas":1}`, manyUpdaters(10), ``},
	{"lost", `"metadata":{` + record + `}`, ``, `-1 lost-owners .metadata.annotations."kubectl.kubernetes.io/last-applied-configuration"`},
	{"no thing", `"x":1`, entry("ann", "Apply", "v1", "1", `{"f:spec":{"f:replicas":{}}}`) + "," + entry("bob", "Apply", "v1", "1", `{"f:spec":{"f:replicas":{}}}`), `
		-1 invalid-object`},
}

func manyUpdaters(n int) string {
	var all []string
	for i := range n {
		all = append(all, entry(fmt.Sprintf("u%02d", i), "Update", "v1", "1", `{"f:spec":{"f:replicas":{}}}`))
	}
	return strings.Join(all, ",")
}

func showFindings(all []ownership.Finding) string {
	var b strings.Builder
	for _, f := range all {
		fmt.Fprintf(&b, "%d %s", f.Entry, f.Code)
		if f.Path != nil {
			b.WriteString(" " + f.Path.Text())
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestCheck(t *testing.T) {
	for _, test := range checkCases {
		t.Run(test.name, func(t *testing.T) {
			o := kindtest.New(t, test.content)
			o.Entries = kindtest.Entries(t, `[`+test.entries+`]`)
			got := ownership.Check(o, checkConfig)
			if showFindings(got) != kindtest.Lines(test.want) {
				t.Errorf("got\n%s", showFindings(got))
			}
			for _, f := range got {
				if f.Detail == "" || f.Remedy == "" || f.Entry >= 0 && f.Manager != o.Entries[f.Entry].Manager {
					t.Errorf("%+v", f)
				}
				if !strings.HasPrefix(f.String(), string(f.Code)+": ") || !strings.HasSuffix(f.String(), f.Detail) {
					t.Errorf("prints as %s", f)
				}
			}
		})
	}
}

func TestCheckUnconvertible(t *testing.T) {
	o := kindtest.New(t, `"spec":{"containers":[{"name":"a"},{"name":"a"}],"replicas":1}`)
	o.Entries = kindtest.Entries(t, `[`+entry("ann", "Apply", "v2", "1", `{"f:spec":{"f:replicas":{}}}`)+`]`)
	c := checkConfig
	c.Versions.Converter = failingConverter{}
	if got := showFindings(ownership.Check(o, c)); got != "0 unconvertible\n" {
		t.Errorf("got\n%s", got)
	}
}

func TestCheckFieldsOfStuckEntries(t *testing.T) {
	o := kindtest.New(t, `"spec":{"replicas":1}`)
	o.Entries = kindtest.Entries(t, `[`+entry("kubectl-client-side-apply", "Update", "v1", "1", `{"f:spec":{"f:replicas":{}}}`)+`]`)
	got := ownership.Check(o, checkConfig)
	if len(got) != 1 || got[0].Fields.String() != ".spec.replicas" {
		t.Errorf("got %v", got)
	}
}

// Without a schema what needs none is found all the same.
func TestCheckWithoutSchema(t *testing.T) {
	o := kindtest.New(t, "")
	o.Entries = kindtest.Entries(t, `[`+entry("ann", "Apply", "v1", "1", `{"f:x":{}}`)+","+entry("bob", "Apply", "v1", "1", `{}`)+`]`)
	if got := showFindings(ownership.Check(o, ownership.CheckConfig{})); got != "1 empty-set\n" {
		t.Errorf("got\n%s", got)
	}
}

// docs/check.md explains exactly the codes that there are, each of which a case above has.
func TestCheckDocumentation(t *testing.T) {
	text, err := os.ReadFile("../docs/check.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		documented = append(documented, row[1])
	}
	source, err := os.ReadFile("check.go")
	if err != nil {
		t.Fatal(err)
	}
	var declared []string
	for _, line := range regexp.MustCompile(`(?m)^\t\w+ +Code = "([a-z-]+)"`).FindAllStringSubmatch(string(source), -1) {
		declared = append(declared, line[1])
	}
	if len(declared) == 0 || !slices.Equal(documented, declared) {
		t.Errorf("documented %q\ndeclared   %q", documented, declared)
	}
	for _, code := range declared {
		tested := code == string("unconvertible") // by a test of its own
		for _, test := range checkCases {
			tested = tested || strings.Contains(test.want, code)
		}
		if !tested {
			t.Errorf("no case has %s", code)
		}
	}
}

// What the field manager itself leaves behind is in order.
func TestCheckOfHistories(t *testing.T) {
	kindtest.Histories(t, func(t *testing.T, r *rand.Rand, o managedfields.Object) {
		for _, f := range ownership.Check(o, checkConfig) {
			if !slices.Contains([]ownership.Code{"orphan-item", "before-first-apply", "split-manager"}, f.Code) {
				t.Error(f)
			}
		}
	})
}
