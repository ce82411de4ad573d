package main

import (
	"bytes"
	"fmt"
	"os"
)

// marker is the line of a document before the tables.
const marker = "<!-- The rest is written by: cd oracle && go run ./bench -into ../docs/benchmarks.md -->\n"

// replaceTables replaces everything after marker in file by tables.
func replaceTables(file string, tables []byte) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	prose, _, found := bytes.Cut(text, []byte(marker))
	if !found {
		return fmt.Errorf("%s has no line %q", file, marker)
	}
	return os.WriteFile(file, append(append(prose, marker...), tables...), 0o666)
}
