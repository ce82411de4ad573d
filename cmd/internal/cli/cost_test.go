package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/deed-project/deed/cmd/internal/cli"
	"github.com/deed-project/deed/internal/work"
)

// shares limits the work of each command as a multiple of the work of apply. The limits leave no room for a repeated walk.
var shares = []struct {
	command string
	share   float64
}{{"apply", 1.05}, {"plan", 1.8}, {"diff", 1.1}, {"fields", 1.2}, {"blame", 1.1}, {"check", 2.3}, {"validate", 0.4}, {"explain", 1.1}}

// TestCommandsCostWhatApplyCosts checks that each command does no more than its share of the work of an apply, and that the work grows
// linearly with the object. So no walk is repeated, neither for each path nor once more. The object has one large list that its applier
// owns; only one item changes.
func TestCommandsCostWhatApplyCosts(t *testing.T) {
	few, many := 500, 8000
	if testing.Short() {
		many = 2000
	}
	small, large := newCosts(t, few), newCosts(t, many)
	for _, s := range shares {
		work, bytes := large.of(s.command)
		workOfFew, bytesOfFew := small.of(s.command)
		t.Logf("%-8s %9d steps of work, %6.1f MB", s.command, work, float64(bytes)/1e6)
		if float64(work) > s.share*float64(large.apply) {
			t.Errorf("%s: the work is %d for %d items, and that of apply %d", s.command, work, many, large.apply)
		}
		if work < many {
			t.Errorf("%s: the work of %d items is not counted: %d", s.command, many, work)
		}
		times := many / few
		if work > times*workOfFew*5/4 {
			t.Errorf("%s: the work is %d for %d items, and %d for %d", s.command, workOfFew, few, work, many)
		}
		if bytes > 2*uint64(times)*bytesOfFew {
			t.Errorf("%s: %d bytes are allocated for %d items, and %d for %d", s.command, bytesOfFew, few, bytes, many)
		}
	}
}

// costs measures the commands on an object with a list of one size.
type costs struct {
	*testing.T
	config, live string // files
	apply        int    // the work of deed apply
}

func newCosts(t *testing.T, items int) *costs {
	c := &costs{T: t, config: filepath.Join(t.TempDir(), "config.yaml"), live: filepath.Join(t.TempDir(), "live.yaml")}
	var list strings.Builder
	for i := range items {
		fmt.Fprintf(&list, "        - {name: VARIABLE_%05d, value: \"%d\"}\n", i, i)
	}
	c.write(c.config, fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: wide, namespace: shop}
spec:
  selector: {matchLabels: {app: wide}}
  template:
    metadata: {labels: {app: wide}}
    spec:
      containers:
      - name: web
        image: registry.example.org/web:1
        env:
%s`, list.String()))
	c.write(c.live, "")
	live := c.run("apply", "-f", c.config, "-o", "yaml")
	c.write(c.live, live)
	c.write(c.config, strings.Replace(c.read(c.config), `VARIABLE_00007, value: "7"`, `VARIABLE_00007, value: "8"`, 1))
	c.apply, _ = c.of("apply")
	return c
}

// of returns the work of a command and the bytes that it allocates.
func (c *costs) of(command string) (counted int, bytes uint64) {
	c.Helper()
	args := []string{command, "-f", c.config, "--live", c.live}
	switch command {
	case "fields", "blame", "check", "validate":
		args = []string{command, "-f", c.live}
	case "explain":
		args = []string{command, `.spec.template.spec.containers[name="web"].env[name="VARIABLE_00007"].value`, "-f", c.live}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w := work.Record(func() { c.run(args...) })
	runtime.ReadMemStats(&after)
	return w.Values + w.Nodes + w.Elements + w.Sets + w.Steps + w.Pairs, after.TotalAlloc - before.TotalAlloc
}

// run runs deed and returns its output.
func (c *costs) run(args ...string) string {
	c.Helper()
	var out, stderr strings.Builder
	if code := cli.Run(args, strings.NewReader(""), &out, &stderr); code > 1 {
		c.Fatalf("deed %s exits with %d: %s", strings.Join(args, " "), code, &stderr)
	}
	return out.String()
}

func (c *costs) write(file, text string) {
	c.Helper()
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		c.Fatal(err)
	}
}

func (c *costs) read(file string) string {
	c.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		c.Fatal(err)
	}
	return string(text)
}

// TestMessagesCostAsManyAsThereAre checks that the work of commands with a message for each item of a list grows linearly with the list: none
// of them searches the list for each item.
func TestMessagesCostAsManyAsThereAre(t *testing.T) {
	few, many := 100, 1600
	for _, c := range []struct {
		name    string
		args    []string
		wrong   bool // values have the wrong type, or else conflict with live
		applies bool
	}{
		{"conflicts", []string{"apply"}, false, true}, {"conflicts as JSON", []string{"apply", "-o", "json"}, false, true},
		{"plan", []string{"plan"}, false, true}, {"losses of an update", []string{"update", "-o", "name"}, false, true},
		{"wrong types", []string{"validate"}, true, false}, {"refused types", []string{"apply"}, true, false},
	} {
		of := func(items int) int {
			config, live := filepath.Join(t.TempDir(), "config.json"), filepath.Join(t.TempDir(), "live.json")
			var wanted, stored, owned []string
			for i := range items {
				value := fmt.Sprintf(`"%d"`, i)
				if c.wrong {
					value = fmt.Sprint(i)
				}
				wanted = append(wanted, fmt.Sprintf(`{"name":"V%d","value":%s}`, i, value))
				stored = append(stored, fmt.Sprintf(`{"name":"V%d","value":"x"}`, i))
				owned = append(owned, fmt.Sprintf(`"k:{\"name\":\"V%d\"}":{".":{},"f:name":{},"f:value":{}}`, i))
			}
			files := &costs{T: t}
			files.write(config, listOf(wanted, ""))
			files.write(live, listOf(stored, `"managedFields":[{"manager":"u","operation":"Update","apiVersion":"apps/v1","fieldsType":"FieldsV1",
				"fieldsV1":{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:name":{},"f:image":{},"f:env":{".":{},`+strings.Join(owned, ",")+`}}}}}}}}],`))
			args := append(c.args, "-f", config)
			if c.applies {
				args = append(args, "--live", live)
			}
			w := work.Record(func() { files.run(args...) })
			return w.Values + w.Nodes + w.Elements + w.Sets + w.Steps + w.Pairs
		}
		if little, much := of(few), of(many); much > many/few*little*5/4 || much < many {
			t.Errorf("%s: the work is %d for %d items, and %d for %d", c.name, little, few, much, many)
		}
	}
}

// listOf returns a Deployment whose list of variables has items, with more metadata.
func listOf(items []string, metadata string) string {
	return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{` + metadata + `"name":"wide","namespace":"shop"},"spec":{"selector":{"matchLabels":{"app":"wide"}},
		"template":{"metadata":{"labels":{"app":"wide"}},"spec":{"containers":[{"name":"web","image":"i","env":[` + strings.Join(items, ",") + `]}]}}}}`
}
