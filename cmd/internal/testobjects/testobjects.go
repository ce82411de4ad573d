// Package testobjects provides objects for tests.
package testobjects

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/typed"
)

// Owned returns the manifests of testdata, each with two appliers. One has applied the manifest, the other another manifest of the kind.
func Owned(t *testing.T) []*manifest.Object {
	t.Helper()
	files, err := filepath.Glob("../../../testdata/manifests/*/a.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no manifests: %v", err)
	}
	var out []*manifest.Object
	for _, file := range files {
		var stderr bytes.Buffer
		c := &manifest.Loader{Log: notice.NewLog(&stderr, nil), Secrets: &secret.Rules{Show: true}}
		read := c.Objects(c.Read([]string{file, filepath.Join(filepath.Dir(file), "b.yaml")}, false))
		if len(read) != 2 {
			t.Fatalf("%s: %s", file, stderr.String())
		}
		o := read[0]
		typ, ok := builtin.Catalog().Lookup(o.GVK())
		if !ok {
			t.Fatalf("%s: no type", file)
		}
		var entries []merge.Entry
		for i, config := range read {
			v, err := typed.New(config.Content, typ)
			if err != nil {
				t.Fatal(err)
			}
			entries = append(entries, merge.Entry{
				Manager: merge.Manager{Name: "m" + string(rune('0'+i)), Operation: merge.Apply}, Fields: v.Fields(),
				APIVersion: o.GVK().APIVersion(), Time: time.Unix(1_760_000_000, 0),
			})
		}
		o.Entries = managedfields.Encode(merge.ManagersOf(entries...))
		out = append(out, o)
	}
	return out
}
