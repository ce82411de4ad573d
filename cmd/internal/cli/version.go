package cli

import (
	"bufio"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/internal/build"
)

func (c *cli) versionCommand() *cobra.Command {
	format := choice{report.FormatText, []string{report.FormatText, report.FormatJSON}}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of deed, and the version of Kubernetes that it predicts",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			out := bufio.NewWriter(c.out)
			if format.value == report.FormatJSON {
				return c.flush(out, report.WriteJSON(out, build.Read()))
			}
			out.WriteString(build.Read().Text("deed"))
			return c.flush(out, nil)
		},
	}
	cmd.Flags().VarP(&format, "output", "o", "output format")
	return cmd
}
