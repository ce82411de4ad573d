// Command generate writes what package schema/builtin embeds: the forms of all struct types, and what there is to
// say of each kind. Run it in this directory, without a workspace:
//
//	GOWORK=off go run ./generate ../../schema/builtin
package main

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

//go:embed discovery.json.gz
var discovered []byte

//go:embed reset.json
var resets []byte

// declared are the constraints that the schemas of a server's /openapi/v3 declare, by struct type.
//
//go:embed constraints.json.gz
var declared []byte

// constraint is what a schema says of the members of a type.
type constraint struct {
	Required []string
	Enums    map[string][]string
}

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir string) error {
	d, err := readDiscovery()
	if err != nil {
		return err
	}
	var r resetFields
	if err := json.Unmarshal(resets, &r); err != nil {
		return err
	}
	text, err := unpack(declared)
	if err != nil {
		return err
	}
	var constraints map[string]constraint
	if err := json.Unmarshal(text, &constraints); err != nil {
		return err
	}
	kinds, forms := collect(d, r)
	forms.constrain(constraints)
	text, err = lines(kinds)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "kinds.json"), text, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "forms.txt"), []byte(forms.String()), 0o644)
}

// readDiscovery reads what a server serves by default, and what it serves when everything is turned on.
func readDiscovery() (discovery, error) {
	text, err := unpack(discovered)
	if err != nil {
		return nil, err
	}
	var documents struct{ Default, Everything []json.RawMessage }
	if err := json.Unmarshal(text, &documents); err != nil {
		return nil, err
	}
	d := discovery{}
	for _, text := range documents.Default {
		if err := d.add(text, "default"); err != nil {
			return nil, err
		}
	}
	for _, text := range documents.Everything {
		if err := d.add(text, "option"); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func unpack(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// lines prints a list with an item on each line.
func lines(kinds []kind) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("[")
	for i, k := range kinds {
		if i > 0 {
			b.WriteString(",")
		}
		text, err := json.Marshal(k)
		if err != nil {
			return nil, err
		}
		b.WriteString("\n")
		b.Write(text)
	}
	b.WriteString("\n]\n")
	return b.Bytes(), nil
}
