package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Command returns the command deed with all below it, to be described. It has no input, and what it prints is lost.
func Command() *cobra.Command {
	c := newCLI(strings.NewReader(""), io.Discard, io.Discard)
	c.program = "deed"
	root := c.rootCommand()
	root.InitDefaultCompletionCmd()
	return root
}
