package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/types"
)

// Command returns the command deed with all below it, to be described. It has no input, and what it prints is lost.
func Command() *cobra.Command {
	loader := &manifest.Loader{Log: notice.NewLog(io.Discard, io.Discard), In: strings.NewReader("")}
	c := &cli{Library: types.NewLibrary(loader), out: io.Discard, program: "deed"}
	root := c.rootCommand()
	root.InitDefaultCompletionCmd()
	return root
}
