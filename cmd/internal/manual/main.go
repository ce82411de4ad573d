// Command manual writes the manual pages of deed, one for each command, into a folder:
//
//	SOURCE_DATE_EPOCH=1793611800 go run ./internal/manual DIR
//
// The date of the pages is SOURCE_DATE_EPOCH, in seconds since 1970, or today. The program is separate so that no other command depends on
// the renderer of pages.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/deed-project/deed/cmd/internal/cli"
	"github.com/deed-project/deed/internal/build"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

// run writes the pages into the folder that is the only argument.
func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: manual DIR")
	}
	if err := os.MkdirAll(args[0], 0o755); err != nil {
		return err
	}
	root := cli.Command()
	keepTables(root)
	header := &doc.GenManHeader{Section: "1", Source: "deed " + build.Read().Version, Manual: "deed"}
	return doc.GenManTree(root, header, args[0])
}

// keepTables indents the indented paragraphs of the help texts further. The pages are made from Markdown, which otherwise joins their
// lines.
func keepTables(cmd *cobra.Command) {
	paragraphs := strings.Split(cmd.Long, "\n\n")
	for i, p := range paragraphs {
		if strings.HasPrefix(p, " ") {
			paragraphs[i] = "    " + strings.ReplaceAll(p, "\n", "\n    ")
		}
	}
	cmd.Long = strings.Join(paragraphs, "\n\n")
	for _, below := range cmd.Commands() {
		keepTables(below)
	}
}
