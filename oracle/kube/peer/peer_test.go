package peer

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/schema/form"
	"github.com/deed-project/deed/value"
)

var (
	objects = flag.Int("objects", 2000, "how many random objects are compared in all")
	only    = flag.String("only", "", "the one kind to compare, by its apiVersion and kind with a space between")
)

// served returns the kinds that servers store.
func served() []*builtin.Kind {
	var out []*builtin.Kind
	for k := range builtin.Kinds() {
		if k.Served != builtin.NotServed && slices.Contains(k.Verbs, "get") && (*only == "" || *only == k.GVK.APIVersion()+" "+k.GVK.Kind) {
			out = append(out, k)
		}
	}
	return out
}

// Reading, filling in defaults and storing make of random objects of each kind what the scheme of kube-apiserver
// makes of them.
func TestNormalize(t *testing.T) {
	first, kinds := seeds.First(t), served()
	each := max(1, *objects/len(kinds))
	for i, k := range kinds {
		t.Run(k.GVK.String(), func(t *testing.T) {
			r := seeds.Stream(first, i)
			for range each {
				if object := Random(r, gvkOf(k)); !undecided(object) && !agrees(t, k, object) {
					return
				}
			}
		})
	}
	t.Logf("%d kinds, %d objects of each", len(kinds), each)
}

// undecided reports whether an object requests devices with nothing but an empty list, which no server admits: in
// resource.k8s.io/v1beta1 that cannot be told from a request with nothing once it is printed.
func undecided(object map[string]any) bool {
	text, _ := json.Marshal(object)
	v, _ := value.Parse(text)
	if v.Get("apiVersion").Str() != "resource.k8s.io/v1beta1" {
		return false
	}
	for _, devices := range []value.Value{v.Get("spec", "devices"), v.Get("spec", "spec", "devices")} {
		for request := range devices.Get("requests").Items() {
			for _, member := range request.Members() {
				if (member.Kind() == value.KindList || member.Kind() == value.KindObject) && request.Get("deviceClassName").Str() == "" {
					return true
				}
			}
		}
	}
	return false
}

func gvkOf(k *builtin.Kind) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: k.GVK.Group, Version: k.GVK.Version, Kind: k.GVK.Kind}
}

func agrees(t *testing.T, k *builtin.Kind, object map[string]any) bool {
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	v, err := value.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	second := time.Now().Truncate(time.Second)
	want, wrong := Ask(gvkOf(k), k.Hub, text)
	got, err := k.Form().Normalize(v, form.Held)
	if !second.Equal(time.Now().Truncate(time.Second)) {
		return true // a default may be another time
	}
	if err != nil || wrong != nil {
		t.Errorf("%v: deed says %v, the scheme %v\n%s", k.GVK, err, wrong, text)
		return false
	}
	if !equal(t, "read", want.Read, got) {
		t.Logf("object: %s", text)
		return false
	}
	if got, err = k.Stored(got); err != nil {
		t.Fatal(err)
	}
	if !equal(t, "stored", want.Stored, got) {
		t.Logf("object: %s", text)
		return false
	}
	return true
}

func equal(t *testing.T, what string, want []byte, got value.Value) bool {
	v, err := value.Parse(want)
	if err != nil {
		t.Fatal(err)
	}
	if v.String() == got.String() {
		return true
	}
	t.Errorf("%s: (-scheme +deed)\n%s", what, cmp.Diff(v.ToAny(), got.ToAny()))
	return false
}

// Converting random objects from each version of a kind to each other one comes to what the scheme of
// kube-apiserver makes of them.
func TestConvert(t *testing.T) {
	first, kinds := seeds.First(t), served()
	for i, from := range kinds {
		for _, to := range builtin.Siblings(from.GVK) {
			if to == from || to.Served == builtin.NotServed {
				continue
			}
			t.Run(from.GVK.String()+" to "+to.GVK.String(), func(t *testing.T) {
				r := seeds.Stream(first, 1000+i)
				for range max(1, *objects/len(kinds)) {
					object := Random(r, gvkOf(from))
					text, err := json.Marshal(object)
					if err != nil {
						t.Fatal(err)
					}
					want, err := Ask(gvkOf(from), from.Hub, text)
					if err != nil {
						t.Fatal(err)
					}
					converted, err := Convert(gvkOf(from), gvkOf(to), want.Read)
					if err != nil {
						t.Fatal(err)
					}
					v, err := value.Parse(want.Read)
					if err != nil {
						t.Fatal(err)
					}
					got, err := from.Convert(v, to)
					if err != nil {
						t.Fatal(err)
					}
					if !equal(t, "converted", converted, got) {
						t.Fatalf("object: %s", want.Read)
					}
				}
			})
		}
	}
}

var update = flag.Bool("update", false, "write the answers that the tests of package builtin compare with")

// recorded is a line of the file of answers.
type recorded struct {
	Object map[string]any  `json:"object"`
	Read   json.RawMessage `json:"read"`
	Stored json.RawMessage `json:"stored,omitempty"` // if it is not what was read
}

const answers = "../../../schema/builtin/testdata/answers.jsonl.gz"

// The file of answers is what the scheme answers today.
func TestAnswersAreCurrent(t *testing.T) {
	var lines []byte
	kinds := served()
	for i := range 2000 {
		k := kinds[i%len(kinds)]
		object := Random(seeds.Stream(7, i), gvkOf(k))
		if undecided(object) {
			continue
		}
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := Ask(gvkOf(k), k.Hub, text)
		if err != nil {
			t.Fatal(err)
		}
		if fixed := `"timeAdded":"2026-01-01T00:00:00Z"`; bytes.Count(answer.Read, []byte(`"timeAdded":`)) != bytes.Count(answer.Read, []byte(fixed)) {
			continue // its default is the current time
		}
		line := recorded{Object: object, Read: answer.Read}
		if string(answer.Read) != string(answer.Stored) {
			line.Stored = answer.Stored
		}
		text, err = json.Marshal(line)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(append(lines, text...), '\n')
	}
	if *only != "" {
		t.Skip("the file is about all kinds")
	}
	if *update {
		pack(t, lines)
	}
	if string(unpack(t)) != string(lines) {
		t.Errorf("%s is stale: run this test with -update", answers)
	}
}

func pack(t *testing.T, lines []byte) {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = w.Write(lines); err == nil {
		err = w.Close()
	}
	if err == nil {
		err = os.WriteFile(answers, b.Bytes(), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func unpack(t *testing.T) []byte {
	t.Helper()
	file, err := os.Open(answers)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
