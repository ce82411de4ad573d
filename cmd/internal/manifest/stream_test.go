package manifest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/internal/yaml"
)

// streams holds texts that are hard to cut. All of them can be read.
var streams = []string{
	"",
	"# nothing\n---\n",
	"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n- apiVersion: v1\n  kind: Secret\n  metadata:\n    name: b\n",
	"kind: List\nitems:\n  - apiVersion: v1\n    kind: ConfigMap\n    metadata:\n      name: a\n    data:\n      x: |\n        - not an item\n\n        items:\n  # a comment\n  - apiVersion: v1\n    kind: Secret\n    metadata:\n      name: b\napiVersion: v1\n",
	"apiVersion: v1\nitems:\n- metadata:\n    name: a\n  data:\n    k: v\n- metadata:\n    name: b\nkind: ConfigMapList\nmetadata:\n  resourceVersion: \"\"\n",
	"apiVersion: v1\nkind: List\nitems:\n- &x\n  apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n  data: &d {a: b}\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: b}\n  data: *d\n",
	"apiVersion: v1\nkind: List\nitems: []\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n",
	"apiVersion: v1\nkind: Thing\nmetadata:\n  name: notalist\nitems:\n- a\n- b\n",
	"apiVersion: v1\r\nkind: List\r\nitems:\r\n- apiVersion: v1\r\n  kind: ConfigMap\r\n  metadata:\r\n    name: a\r\n- apiVersion: v1\r\n  kind: ConfigMap\r\n  metadata:\r\n    name: b\r\n",
	"%YAML 1.1\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n",
	"kind: \"Config\\\nkind: x\\\nMap\"\napiVersion: v1\nmetadata:\n  name: quoted\n",
	"metadata:\n  name: a\n  namespace: y\n  labels:\n    name: other\n  managedFields:\n  - apiVersion: v1\n    manager: m\n    operation: Apply\n    fieldsType: FieldsV1\n    fieldsV1:\n      f:data: {}\napiVersion: v1\nkind: ConfigMap\n",
	"metadata: # here\n  name: a # there\napiVersion: v1\nkind: ConfigMap\n",
	"{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [\n  {\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"a\"}},\n {\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"metadata\": {\"name\": \"ü]\\\"}\"}}, {\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"metadata\": {\"name\": \"c\"}}]}\n",
	"{\"items\": [{\"metadata\": {\"name\": \"a\"}}], \"kind\": \"ConfigMapList\", \"apiVersion\": \"v1\"}\n{\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"metadata\": {\"name\": \"d\"}}",
	"{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: flow}}]}\n",
	"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n  - apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: inner}\n",
}

func loader(t *testing.T) (*Loader, *bytes.Buffer) {
	t.Helper()
	messages := new(bytes.Buffer)
	return &Loader{Log: notice.NewLog(messages, nil)}, messages
}

func describeAll(objects []*Object) string {
	var b strings.Builder
	for _, o := range objects {
		fmt.Fprintf(&b, "%v at %v, name at %v: %v %v\n", o, o.At(), o.Key("metadata", "name"), o.Content, len(o.Entries))
	}
	return b.String()
}

// allStreams returns streams, a concatenation of all of them except the one with a directive, and the manifests of the repository.
func allStreams(t *testing.T) []string {
	files, err := filepath.Glob("../../../testdata/manifests/*/a.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no manifests: %v", err)
	}
	all := slices.Clone(streams)
	var together []string
	for _, s := range streams {
		if !isBracket([]byte(s)) && !strings.HasPrefix(s, "%") {
			together = append(together, s)
		}
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all, together = append(all, string(data)), append(together, string(data))
	}
	return append(all, strings.Join(together, "---\n"))
}

// TestStream checks that texts read in parts give the same objects at the same places as texts read as a whole.
func TestStream(t *testing.T) {
	for _, small := range []bool{true, false} {
		size := largeText
		if !small {
			largeText = 0
		}
		for _, s := range allStreams(t) {
			c, whole := loader(t)
			want := describeAll(c.wholeObjects(s))
			d, parts := loader(t)
			got := describeAll(slices.Collect(d.Stream([]*Text{{Name: "f", Data: []byte(s)}}, Everything)))
			if got != want || whole.String() != parts.String() {
				t.Errorf("%s\nin parts:\n%s%s\nwhole:\n%s%s", s, got, parts, want, whole)
			}
		}
		largeText = size
	}
}

// wholeObjects returns the objects in text, read without cutting it.
func (c *Loader) wholeObjects(text string) []*Object {
	docs, err := yaml.Parse("f", []byte(text))
	if err != nil {
		c.ParseProblem(err)
	}
	t := &Text{Name: "f", Data: []byte(text)}
	p := &part{Text: t, data: t.Data}
	r := Everything
	r.Loader, r.Text, r.several = c, t, len(docs) > 1
	return r.take(parsed{part: p, docs: docs})
}

// TestIndex checks that every object is found by its identity and can be read again.
func TestIndex(t *testing.T) {
	defer func(size int) { largeText = size }(largeText)
	for _, largeText = range []int{0, 64 << 10} {
		for _, s := range allStreams(t) {
			c, messages := loader(t)
			texts := []*Text{{Name: "f", Data: []byte(s)}}
			objects := slices.Collect(c.Stream(texts, Everything))
			live := c.Index(texts, Everything)
			if live.Count != len(objects) {
				t.Errorf("%s\nthere are %d, but %d are known", s, len(objects), live.Count)
			}
			for _, o := range objects {
				if slices.ContainsFunc(objects, func(p *Object) bool { return p != o && p.Id.nameID() == o.Id.nameID() }) {
					continue
				}
				found, err := live.Find(o.Id)
				if err != nil || found == nil {
					t.Errorf("%v is not found (%v)", o, err)
					continue
				}
				if got, want := describeAll([]*Object{found.Read(c)}), describeAll([]*Object{o}); got != want {
					t.Errorf("read again it is\n%s, and was\n%s\n%s", got, want, messages)
				}
			}
		}
	}
}

// TestQuickID checks that the identity of a part by its lines is its true identity.
func TestQuickID(t *testing.T) {
	known := 0
	for _, s := range allStreams(t) {
		text := &Text{Name: "f", Data: []byte(s)}
		for _, p := range text.cut() {
			id, ok := p.quickID()
			if !ok {
				continue
			}
			known++
			c, messages := loader(t)
			if o := (&Stored{part: p, number: 1}).Read(c); o == nil || o.Id != id {
				t.Errorf("%s\nis %v, %v by its lines (%s)", p.data, id, o, messages)
			}
		}
	}
	if known < 40 {
		t.Errorf("only %d are known by their lines", known)
	}
}

// TestQuickIDInDoubt reads texts that look like an object but are another object, or none.
func TestQuickIDInDoubt(t *testing.T) {
	for _, s := range []string{
		"kind: \"A\nkind: Fake\"\napiVersion: v1\nmetadata:\n  name: a\n",
		"\"kind\": Real\napiVersion: v1\nkind: Fake\nmetadata:\n  name: a\n",
		"? kind\n: Real\napiVersion: v1\nmetadata:\n  name: a\n",
		"<<: {kind: Real}\napiVersion: v1\nmetadata:\n  name: a\n",
		"kind: &a Real\napiVersion: v1\nmetadata:\n  name: a\n",
		"kind: yes\napiVersion: v1\nmetadata:\n  name: a\n",
		"kind: Real\napiVersion: v1\nmetadata:\n  name: 5\n",
		"kind: Real\napiVersion: v1\nmetadata:\n  name: a\n  namespace: 5\n",
		"kind: Real\napiVersion: v1\nmetadata: {name: b}\n",
		"kind: Real\napiVersion: v1\nmetadata:\n  name: a\n  name: b\n",
		"kind: Real\napiVersion: v1\nmetadata:\n  name: a\nmetadata:\n  name: b\n",
		"kind: Real\napiVersion: v1\nmetadata:\n  name: a\n b: c\n",
		"--- {}\nkind: Real\napiVersion: v1\nmetadata:\n  name: a\n",
		"kind: Real\napiVersion: v1\nmetadata:\n  labels:\n    name: a\n",
		"kind: Real Estate\napiVersion: v1\nmetadata:\n  name: a\n",
	} {
		if id, ok := (&part{Text: &Text{}, data: []byte(s)}).quickID(); ok {
			t.Errorf("%s\nis taken for %v", s, id)
		}
	}
}

// TestStreamHoldsLittle checks that a stream of many objects holds little more than their text.
func TestStreamHoldsLittle(t *testing.T) {
	var b bytes.Buffer
	labels := strings.Repeat("    label-of-no-length-at-all: and-a-value-too\n", 1)
	for i := range 6000 {
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c%d\n  labels:\n%sdata:\n", i, labels)
		for k := range 40 {
			fmt.Fprintf(&b, "  key%d: value\n", k)
		}
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	c, _ := loader(t)
	texts := []*Text{{Name: "f", Data: b.Bytes()}}
	before, n := heap(), 0
	live := c.Index(texts, Everything)
	for range c.Stream(texts, Everything) {
		if n++; n == 3000 {
			if more := heap() - before; more > 4<<20 && more < 1<<40 {
				t.Errorf("half way, %d kB more are held, of a text of %d kB", more>>10, b.Len()>>10)
			}
		}
	}
	if n != 6000 || live.Count != n {
		t.Errorf("%d objects, and %d known, of 6000", n, live.Count)
	}
}

// TestDefectiveParts checks that a defect in one document of a large text leaves the others readable.
func TestDefectiveParts(t *testing.T) {
	defer func(size int) { largeText = size }(largeText)
	largeText = 0
	item := func(name string) string {
		return "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: " + name + "\n"
	}
	text := "apiVersion: v1\nkind: List\nitems:\n" + item("a") + item("[") + item("c")
	c, messages := loader(t)
	var names []string
	for o := range c.Stream([]*Text{{Name: "f", Data: []byte(text)}}, Everything) {
		names = append(names, o.Id.Name)
	}
	if !slices.Equal(names, []string{"a", "c"}) || !strings.HasPrefix(messages.String(), "f:1") {
		t.Errorf("read %q, messages %q", names, messages)
	}
}
