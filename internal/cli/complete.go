package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/manifest"
	"github.com/deed-project/deed/internal/notice"
	"github.com/deed-project/deed/internal/report"
	"github.com/deed-project/deed/internal/types"
)

// completion completes a value of a flag, or an argument.
type completion = cobra.CompletionFunc

// completeValues completes what stands in the files that the command line names so far, flags that have one of a few values, and
// no files where a command takes no arguments.
func (c *cli) completeValues(root *cobra.Command) {
	managers, paths, kinds := c.completeFrom(managersIn), c.completePaths, c.completeKinds
	flags := map[string]completion{
		"manager": managers, "only": managers, "not": managers, "both": managers, "from": managers, "to": managers,
		"field-manager": managers, "force-manager": managers, "force-field": paths, "path": paths, "kind": kinds,
		"namespace": c.completeFrom(namespacesIn), "subresource": c.completeFrom(subresourcesIn),
		"ignore": func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return codeNames(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	arguments := map[string]completion{"explain": paths, "list": kinds, "show": kinds}
	eachCommand(root, func(cmd *cobra.Command) {
		if complete, ok := arguments[cmd.Name()]; ok {
			cmd.ValidArgsFunction = onlyArgument(complete)
		}
		if cmd.ValidArgsFunction == nil && !cmd.HasSubCommands() && !takesFiles[cmd.Name()] {
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			complete, ok := flags[f.Name]
			if values, isChoice := f.Value.(*choice); isChoice {
				complete, ok = cobra.FixedCompletions(values.allowed, cobra.ShellCompDirectiveNoFileComp), true
			}
			if ok {
				if err := cmd.RegisterFlagCompletionFunc(f.Name, complete); err != nil {
					panic(err) // the flag has a completion already
				}
			}
		})
	})
}

// takesFiles are the commands whose arguments are files.
var takesFiles = map[string]bool{"convert": true, "diff": true, "replay": true}

// onlyArgument completes the first argument, and no other.
func onlyArgument(complete completion) completion {
	return func(cmd *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, text)
	}
}

// quiet returns a library that reports nothing: who completes a line does not want to know what is wrong with files.
func (c *cli) quiet() *types.Library {
	return types.NewLibrary(&manifest.Loader{Log: notice.NewLog(io.Discard, nil), In: strings.NewReader(""), Archived: c.Archived})
}

// named returns the objects in the files that the flags of cmd name, standard input left out.
func (c *cli) named(cmd *cobra.Command) []*manifest.Object {
	var names []string
	for _, flag := range []string{"filename", "live"} {
		if values, err := cmd.Flags().GetStringArray(flag); err == nil {
			names = append(names, slices.DeleteFunc(slices.Clone(values), func(s string) bool { return s == manifest.StdinName })...)
		}
	}
	recursive, err := cmd.Flags().GetBool("recursive")
	library := c.quiet()
	return library.Objects(library.Read(names, err == nil && recursive))
}

// completeFrom completes the texts that list finds in objects.
func (c *cli) completeFrom(list func([]*manifest.Object) []string) completion {
	return func(cmd *cobra.Command, _ []string, text string) ([]string, cobra.ShellCompDirective) {
		return beginning(list(c.named(cmd)), text), cobra.ShellCompDirectiveNoFileComp
	}
}

// beginning returns the texts that begin with prefix, sorted, each once.
func beginning(texts []string, prefix string) []string {
	out := slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return s == "" || !strings.HasPrefix(s, prefix) })
	slices.Sort(out)
	return slices.Compact(out)
}

func managersIn(objects []*manifest.Object) []string {
	var out []string
	for _, o := range objects {
		for _, e := range o.Entries {
			out = append(out, e.Manager)
		}
	}
	return out
}

func namespacesIn(objects []*manifest.Object) []string {
	var out []string
	for _, o := range objects {
		out = append(out, o.Id.Namespace)
	}
	return out
}

func subresourcesIn(objects []*manifest.Object) []string {
	out := []string{types.StatusName}
	for _, o := range objects {
		for _, e := range o.Entries {
			out = append(out, e.Subresource)
		}
	}
	return out
}

// completePaths completes the paths that somebody owns in the objects, one step at a time: of those below .spec it says where
// they begin. The cost is that of printing all paths that begin with text.
func (c *cli) completePaths(cmd *cobra.Command, _ []string, text string) ([]string, cobra.ShellCompDirective) {
	var all fieldpath.Set
	for _, o := range c.named(cmd) {
		for _, e := range o.Entries {
			if set, err := e.FieldsV1.Set(); err == nil {
				all = all.Union(set)
			}
		}
	}
	var out []string
	for path := range all.All() {
		for n := 1; n <= len(path); n++ {
			if step := path[:n].Text(); len(step) > len(text) || n == len(path) {
				out = append(out, step)
				break
			}
		}
	}
	return beginning(out, text), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeKinds completes the kinds that the schemas have which the line names, and those that are built in.
func (c *cli) completeKinds(cmd *cobra.Command, _ []string, text string) ([]string, cobra.ShellCompDirective) {
	var f types.Flags
	for name, into := range map[string]*[]string{"crd": &f.Crds, "openapi": &f.OpenAPI} {
		if values, err := cmd.Flags().GetStringArray(name); err == nil {
			*into = values
		}
	}
	var out []string
	known, _ := types.KnownKinds(c.quiet(), f)
	for _, k := range known {
		out = append(out, k.APIVersion()+"/"+k.Kind)
	}
	return beginning(out, text), cobra.ShellCompDirectiveNoFileComp
}

// codeNames returns the codes of findings.
func codeNames() []string {
	out := make([]string, len(report.CheckCodes))
	for i, code := range report.CheckCodes {
		out[i] = string(code)
	}
	return out
}
