package cli

import (
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// pluginName is what the program is called as a plugin of kubectl.
const pluginName = "kubectl-deed"

// nameAs has the help of the command say kubectl deed if it runs as a plugin of kubectl.
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

// completeChoices completes the flags that have one of a few values, and no files where a command takes no arguments.
func (c *cli) completeChoices(root *cobra.Command) {
	eachCommand(root, func(cmd *cobra.Command) {
		if cmd.ValidArgsFunction == nil && !cmd.HasSubCommands() && !takesFiles[cmd.Name()] {
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if values, ok := f.Value.(*choice); ok {
				complete := cobra.FixedCompletions(values.allowed, cobra.ShellCompDirectiveNoFileComp)
				if err := cmd.RegisterFlagCompletionFunc(f.Name, complete); err != nil {
					panic(err) // the flag has a completion already
				}
			}
		})
	})
}

// takesFiles are the commands whose arguments are files.
var takesFiles = map[string]bool{"convert": true, "diff": true, "replay": true}

// eachCommand calls f for cmd and all commands below it.
func eachCommand(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, below := range cmd.Commands() {
		eachCommand(below, f)
	}
}
