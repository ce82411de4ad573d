// Command generate writes schema/builtin/releases.txt: how the schemas of the built-in kinds of each release differ from those of the next
// one. Run it in the directory oracle:
//
//	go run ./releases/generate ../schema/builtin
//
// It builds a program with the client-go of each release, in a directory that it removes.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/deed-project/deed/oracle/releases"
)

// versions has the last version of client-go of each release, from the latest to the earliest.
var versions = []string{"v0.36.6", "v0.35.10", "v0.34.13", "v0.33.13", "v0.32.13", "v0.31.14"}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./releases/generate DIRECTORY")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "schema.json"))
	if err != nil {
		return err
	}
	next, err := read(text)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for _, version := range versions {
		text, err := schemas(version)
		if err != nil {
			return err
		}
		of, err := read(text)
		if err != nil {
			return fmt.Errorf("%s: %w", version, err)
		}
		of.keep(next)
		fmt.Fprintf(&out, "release %s\n", strings.Split(version, ".")[1])
		of.differ(next, &out)
		next = of
	}
	return os.WriteFile(filepath.Join(dir, "releases.txt"), out.Bytes(), 0o644)
}

// schemas returns the schemas of a release.
func schemas(version string) (_ []byte, err error) {
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	return releases.Schemas(".", dir, version)
}

// document has the lines of a document: types by name, and kinds by apiVersion and kind.
type document struct{ types, kinds map[string]string }

// read reads a document that genschema wrote.
func read(text []byte) (document, error) {
	var lines struct{ Types, GVKs []json.RawMessage }
	d := document{map[string]string{}, map[string]string{}}
	if err := json.Unmarshal(text, &lines); err != nil {
		return d, err
	}
	for _, line := range lines.Types {
		var named struct{ Name string }
		if err := json.Unmarshal(line, &named); err != nil {
			return d, err
		}
		d.types[named.Name] = string(line)
	}
	for _, line := range lines.GVKs {
		var k struct{ Group, Version, Kind string }
		if err := json.Unmarshal(line, &k); err != nil {
			return d, err
		}
		name := k.Version + " " + k.Kind
		if k.Group != "" {
			name = k.Group + "/" + name
		}
		d.kinds[name] = string(line)
	}
	return d, nil
}

// keep adds the kinds whose schemas older releases do not publish, as the next release has them.
func (d document) keep(next document) {
	for name, line := range next.kinds {
		if strings.HasPrefix(name, "apiextensions.k8s.io/") || strings.HasPrefix(name, "apiregistration.k8s.io/") {
			d.kinds[name] = line
		}
	}
}

// differ writes the differences from next to d. Types that d does not have stay: no kind refers to them.
func (d document) differ(next document, out *bytes.Buffer) {
	for _, name := range slices.Sorted(maps.Keys(d.types)) {
		if d.types[name] != next.types[name] {
			fmt.Fprintln(out, d.types[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.kinds)) {
		if d.kinds[name] != next.kinds[name] {
			fmt.Fprintln(out, "kind", d.kinds[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(next.kinds)) {
		if _, ok := d.kinds[name]; !ok {
			fmt.Fprintln(out, "without", name)
		}
	}
}
