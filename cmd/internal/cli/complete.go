package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/types"
)

// completion completes a value of a flag, or an argument.
type completion = cobra.CompletionFunc

// completeValues registers the completions of flags and arguments. They are names in the files that the command line names so far, or the
// values of a flag. Commands without arguments complete no files.
func (c *cli) completeValues(root *cobra.Command) {
	managers, paths, kinds := c.completeFrom(manifest.ManagerNames), c.completePaths, c.completeKinds
	flags := map[string]completion{
		"manager": managers, "only": managers, "not": managers, "both": managers, "from": managers, "to": managers,
		"field-manager": managers, "force-manager": managers, "force-field": paths, "path": paths, "kind": kinds,
		"namespace": c.completeFrom(namespacesIn), "name": c.completeFrom(namesIn), "subresource": c.completeFrom(subresourcesIn),
		"plan only": cobra.FixedCompletions(report.PlanWords(), cobra.ShellCompDirectiveNoFileComp),
		"ignore-code": func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return codeNames(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	objects := c.completeFrom(objectsIn)
	arguments := map[string]completion{
		"explain": c.completeExplain, "list": onlyArgument(kinds), "show": onlyArgument(kinds),
		"blame": objects, "fields": objects, "extract": objects, "check": objects, "migrate": objects, "transfer": objects,
	}
	eachCommand(root, func(cmd *cobra.Command) {
		if complete, ok := arguments[cmd.Name()]; ok {
			cmd.ValidArgsFunction = complete
		}
		if cmd.ValidArgsFunction == nil && !cmd.HasSubCommands() && !takesFiles[cmd.Name()] {
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			complete, ok := flags[cmd.Name()+" "+f.Name]
			if !ok {
				complete, ok = flags[f.Name]
			}
			if values, isChoice := f.Value.(*choice); isChoice {
				complete, ok = cobra.FixedCompletions(values.allowed, cobra.ShellCompDirectiveNoFileComp), true
			}
			if ok {
				if err := cmd.RegisterFlagCompletionFunc(f.Name, complete); err != nil {
					panic(err) // the flag already has a completion
				}
			}
		})
	})
}

// takesFiles holds the commands whose arguments are files.
var takesFiles = map[string]bool{
	"convert": true, "diff": true, "replay": true, "apply": true, "update": true, "plan": true, "validate": true, "test": true,
}

// onlyArgument completes the first argument only.
func onlyArgument(complete completion) completion {
	return func(cmd *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, text)
	}
}

// quiet returns a library like that of c that reports nothing, and reads nothing from standard input.
func (c *cli) quiet() *types.Library {
	library := types.NewLibrary(&manifest.Loader{
		Log: notice.NewLog(io.Discard, nil), In: strings.NewReader(""),
		Archived: c.Archived, Secrets: c.Secrets, Kustomize: c.Kustomize, Download: c.Download, Unpack: c.Unpack,
	})
	library.Validation = c.Validation
	return library
}

// named returns the objects in the files that the flags of cmd name, without standard input.
func (c *cli) named(cmd *cobra.Command) []*manifest.Object {
	var names []string
	for _, flag := range []string{"filename", "live"} {
		names = append(names, slices.DeleteFunc(valuesOf(cmd.Flag(flag)), func(s string) bool { return s == manifest.StdinName })...)
	}
	recursive, err := cmd.Flags().GetBool("recursive")
	library := c.quiet() // completions must not print problems of files
	return library.Objects(library.Read(names, err == nil && recursive))
}
