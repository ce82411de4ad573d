// Genschema writes the schemas of the Kubernetes built-in types as one JSON document, which package
// schema/builtin embeds.
//
// It uses the type converters that Kubernetes publishes: client-go's, apiextensions-apiserver's and kube-aggregator's. So it follows the
// versions in this module's go.mod and needs no network. Kinds that no converter can type are omitted and reported. These are lists, and
// most of the kinds that are requests rather than objects.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/deed-project/deed/oracle/kinds"
)

func main() {
	out := flag.String("o", "schema.json", "`file` to write")
	verbose := flag.Bool("v", false, "list the kinds that are left out")
	flag.Parse()
	if err := run(*out, *verbose, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "genschema:", err)
		os.Exit(1)
	}
}

// run writes the document to the named file, and logs its content and the omitted kinds.
func run(file string, verbose bool, log io.Writer) error {
	doc, untyped, err := collect(kinds.Sources())
	if err != nil {
		return err
	}
	text, err := encode(doc)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return err
	}
	fmt.Fprintf(log, "%d types, %d kinds, %d kinds without a type: %d bytes\n",
		len(doc.Types), len(doc.GVKs), len(untyped), len(text))
	if verbose {
		for _, u := range untyped {
			fmt.Fprintln(log, u)
		}
	}
	return nil
}
