// Command library prints what an apply would store, as JSON, or its conflicts. It uses the packages of deed from another
// module.
package main

import (
	"fmt"
	"os"

	"github.com/deed-project/deed/managedfields"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run applies the second of two JSON files to the first.
func run(files []string) error {
	if len(files) != 2 {
		return fmt.Errorf("usage: library LIVE CONFIG")
	}
	var objects [2]managedfields.Object
	for i, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if objects[i], err = managedfields.ParseObject(text); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return apply(objects[0], objects[1])
}
