package builtin_test

import (
	"bufio"
	"compress/gzip"
	"iter"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/builtin"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// TestDocuments compares decoded objects with those that have passed their Go type: the valid objects among the recordings of a
// kube-apiserver, and some of them without a member of their spec. Policies that validate see the documents.
func TestDocuments(t *testing.T) {
	compared := 0
	for v, object := range validObjects(t) {
		compareDocument(t, v, object)
		for without := range object.Get("spec").Members() {
			if compared++; compared%4 == 0 {
				compareDocument(t, v, object.With("spec", object.Get("spec").With(without, value.Value{})))
			}
		}
	}
	if compared < 300 {
		t.Errorf("only %d objects", compared)
	}
}

// validObjects yields the valid objects among the recordings of wrong objects, with the version of each.
func validObjects(t *testing.T) iter.Seq2[*catalog.Version, value.Value] {
	t.Helper()
	file, err := os.Open("../../testdata/faults.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() }) // it is only read
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := builtin.Kinds(builtin.Cluster{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	all := catalog.New(kinds...)
	lines := bufio.NewScanner(unpacked)
	lines.Buffer(nil, 1<<24)
	return func(yield func(*catalog.Version, value.Value) bool) {
		for lines.Scan() {
			line, err := value.Parse(lines.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			object := line.Get("base", "object")
			if object.IsAbsent() {
				return // the valid objects come first
			}
			group, version, ok := strings.Cut(object.Get("apiVersion").Str(), "/")
			if !ok {
				group, version = "", group
			}
			for v := range all.In(group, version) {
				if v.Kind == object.Get("kind").Str() && v.New != nil && !yield(v, object) {
					return
				}
			}
		}
	}
}

// compareDocument compares a decoded object with what its Go type makes of it.
func compareDocument(t *testing.T, v *catalog.Version, object value.Value) {
	t.Helper()
	decoded, _, err := v.Form.Decode(object)
	if err != nil {
		return
	}
	into := v.New()
	if err := structs.Into(decoded, into); err != nil {
		t.Fatalf("%s: %v", object, err)
	}
	want, err := runtime.DefaultUnstructuredConverter.ToUnstructured(into)
	if err != nil {
		t.Fatal(err)
	}
	if got := decoded.ToAny(); !reflect.DeepEqual(got, any(want)) {
		t.Errorf("%s\n got %v\nwant %v", object, got, want)
	}
}
