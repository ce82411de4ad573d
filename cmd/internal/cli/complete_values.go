package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/finding"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/fieldpath"
)

// completeFrom completes the texts that list returns for the objects in the files.
func (c *cli) completeFrom(list func([]*manifest.Object) []string) completion {
	return func(cmd *cobra.Command, _ []string, text string) ([]string, cobra.ShellCompDirective) {
		return beginning(list(c.named(cmd)), text), cobra.ShellCompDirectiveNoFileComp
	}
}

// beginning returns the texts that begin with prefix, sorted and without duplicates.
func beginning(texts []string, prefix string) []string {
	out := slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return s == "" || !strings.HasPrefix(s, prefix) })
	slices.Sort(out)
	return slices.Compact(out)
}

func namespacesIn(objects []*manifest.Object) []string {
	var out []string
	for _, o := range objects {
		out = append(out, o.Id.Namespace)
	}
	return out
}

func namesIn(objects []*manifest.Object) []string {
	var out []string
	for _, o := range objects {
		out = append(out, o.Id.Name)
	}
	return out
}

// objectsIn returns the names of the objects in the form of arguments, such as deployment/web.
func objectsIn(objects []*manifest.Object) []string {
	var out []string
	for _, o := range objects {
		out = append(out, strings.ToLower(o.Id.Kind)+"/"+o.Id.Name)
	}
	return out
}

// completeExplain completes an object or a path, and only a path after an object.
func (c *cli) completeExplain(cmd *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
	switch {
	case len(args) == 0 && strings.TrimLeft(text, ".*[") == text:
		objects, _ := c.completeFrom(objectsIn)(cmd, args, text)
		paths, directive := c.completePaths(cmd, args, text)
		return append(objects, paths...), directive
	case len(args) > 0 && !strings.Contains(args[len(args)-1], "/"):
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.completePaths(cmd, args, text)
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

// completePaths completes the owned paths of the objects, one step at a time: .spec comes before the paths below it. The cost is the cost
// of printing all paths that begin with text.
func (c *cli) completePaths(cmd *cobra.Command, _ []string, text string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, o := range c.named(cmd) {
		view := o.View()
		var all fieldpath.Set
		for _, e := range o.Entries {
			if set, err := e.FieldsV1.Set(); err == nil {
				all = all.Union(set)
			}
		}
		for path := range all.All() {
			for n := 1; n <= len(path); n++ {
				if step := view.Path(path[:n]); len(step) > len(text) || n == len(path) {
					out = append(out, step)
					break
				}
			}
		}
	}
	return beginning(out, text), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeKinds completes the built-in kinds and the kinds in the schemas that the command line names.
func (c *cli) completeKinds(cmd *cobra.Command, _ []string, text string) ([]string, cobra.ShellCompDirective) {
	f := types.Flags{Crds: valuesOf(cmd.Flag("crd")), OpenAPI: valuesOf(cmd.Flag("openapi"))}
	var out []string
	known, _ := types.KnownKinds(c.quiet(), f)
	for _, k := range known {
		out = append(out, k.APIVersion()+"/"+k.Kind)
	}
	return beginning(out, text), cobra.ShellCompDirectiveNoFileComp
}

// codeNames returns the codes of findings.
func codeNames() []string {
	out := make([]string, len(finding.Codes))
	for i, code := range finding.Codes {
		out[i] = string(code)
	}
	return out
}
