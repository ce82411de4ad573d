package cli

import (
	"bufio"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/types"
)

// versionJSON is what deed version says.
type versionJSON struct {
	Version    string `json:"version"`
	Commit     string `json:"commit,omitempty"`
	Kubernetes string `json:"answersAs"` // whose answers the command gives
	Go         string `json:"go"`
}

func (c *cli) versionCommand() *cobra.Command {
	format := choice{report.FormatText, []string{report.FormatText, report.FormatJSON}}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of deed, and of the Kubernetes that it answers as",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			v := versionJSON{version(), commit(), types.KubernetesVersion, runtime.Version()}
			out := bufio.NewWriter(c.out)
			if format.value == report.FormatJSON {
				return c.flush(out, report.WriteJSON(out, v))
			}
			fmt.Fprintf(out, "deed %s\nanswers as %s\n", v.Version, v.Kubernetes)
			return c.flush(out, nil)
		},
	}
	cmd.Flags().VarP(&format, "output", "o", "output format")
	return cmd
}

// commit returns the commit that the command was built from, as far as that is known.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
