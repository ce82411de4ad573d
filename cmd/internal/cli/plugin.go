package cli

import (
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// pluginName is the name of the program as a plugin of kubectl.
const pluginName = "kubectl-deed"

// nameAs makes the help say kubectl deed if the program runs as a plugin of kubectl.
func (c *cli) nameAs(root *cobra.Command) {
	if strings.TrimSuffix(c.program, ".exe") != pluginName {
		return
	}
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl deed"}
	var names []string
	for _, cmd := range root.Commands() {
		names = append(names, cmd.Name())
	}
	called := regexp.MustCompile(`\bdeed (` + strings.Join(names, "|") + `)\b`)
	eachCommand(root, func(cmd *cobra.Command) {
		cmd.Long = called.ReplaceAllString(cmd.Long, "kubectl deed $1")
		cmd.Example = called.ReplaceAllString(cmd.Example, "kubectl deed $1")
	})
}

// eachCommand calls f for cmd and for all commands below it.
func eachCommand(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, below := range cmd.Commands() {
		eachCommand(below, f)
	}
}
