package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Command returns the command deed with all its subcommands, for programs that describe it. It has no input, and its output is discarded.
func Command() *cobra.Command {
	c := newCLI(strings.NewReader(""), io.Discard, io.Discard)
	c.program = "deed"
	root := c.rootCommand()
	root.InitDefaultCompletionCmd()
	return root
}
