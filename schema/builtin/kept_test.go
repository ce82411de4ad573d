package builtin_test

import (
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
)

// TestKept tells which paths a server may have nothing at, and where it keeps what is written to others.
func TestKept(t *testing.T) {
	for _, c := range []struct {
		kind, path string
		leftOut    bool
		folded     string // if not path
	}{
		{"Pod", ".spec.hostNetwork", true, ""},
		{"Pod", `.spec.containers[name="a"].args`, true, ""},
		{"Pod", `.spec.containers[name="a"].name`, false, ""},
		{"Pod", `.spec.containers[name="a"]`, false, ""},
		{"Pod", ".metadata.labels", true, ""},
		{"Pod", ".metadata.labels.app", false, ""},
		{"Pod", ".spec.nope", false, ""},
		{"Secret", ".stringData.a", false, ".data.a"},
		{"Secret", ".data.a", false, ""},
		{"ConfigMap", ".stringData.a", false, ""},
	} {
		k, ok := builtin.Lookup(schema.GVK{Version: "v1", Kind: c.kind})
		if !ok {
			t.Fatalf("no kind %s", c.kind)
		}
		path, err := fieldpath.ParsePath(c.path)
		if err != nil {
			t.Fatal(err)
		}
		if c.folded == "" {
			c.folded = c.path
		}
		if got := k.LeavesOut(path); got != c.leftOut {
			t.Errorf("%s %s: left out: %t", c.kind, c.path, got)
		}
		if got := k.Folded(path).Text(); got != c.folded {
			t.Errorf("%s %s: kept at %s, want %s", c.kind, c.path, got, c.folded)
		}
	}
}

// TestKeepsMetadata checks which endpoints of a pod ignore a deletion timestamp that is sent, and which leave it to validation.
func TestKeepsMetadata(t *testing.T) {
	pod, ok := builtin.Lookup(schema.ParseGVK("v1", "Pod"))
	if !ok {
		t.Fatal("there is no kind Pod")
	}
	for subresource, want := range map[string]bool{"": false, "status": true, "ephemeralcontainers": true, "resize": true} {
		if got := pod.KeepsMetadata(subresource, "deletionTimestamp"); got != want {
			t.Errorf("subresource %q: got %v", subresource, got)
		}
		if pod.KeepsMetadata(subresource, "uid") {
			t.Errorf("subresource %q ignores the uid", subresource)
		}
	}
}
