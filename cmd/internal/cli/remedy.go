package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/deed-project/deed/cmd/internal/wording"
)

// given is a flag of a command line with its values.
type given struct {
	name   string
	values []string
}

// notCarried lists the flags that remedy does not copy to the command line of another command. They control what a command does with its
// input and how it prints the result.
var notCarried = []string{"output", "color", "write", "dry-run", "subresource", "show-managed-fields", "help"}

// remedy returns a command line that runs the command called path, with the arguments, on the input of the running command. It copies all
// flags of the running command that the other command has, except those of notCarried; flags in set replace copied ones. Every message that
// names a command line takes it from remedy, so that no input is left out. remedy panics if the command does not exist or lacks a flag of
// set.
func (c *cli) remedy(path string, arguments []string, set ...given) string {
	target, _, err := c.running.Root().Find(strings.Fields(path))
	if err != nil {
		panic(err)
	}
	words := append(strings.Fields(target.CommandPath()), arguments...)
	for _, g := range set {
		if target.Flag(g.name) == nil {
			panic("deed " + path + " has no flag --" + g.name)
		}
	}
	add := func(f *pflag.Flag) {
		g := given{name: f.Name}
		if i := slices.IndexFunc(set, func(s given) bool { return s.name == f.Name }); i >= 0 {
			g = set[i]
		} else if target == c.running || !slices.Contains(notCarried, f.Name) {
			g.values = c.valuesOf(f.Name)
		}
		for _, v := range g.values {
			words = append(words, spell(f, v)...)
		}
	}
	target.LocalFlags().VisitAll(add)
	target.InheritedFlags().VisitAll(add)
	for i, word := range words {
		words[i] = wording.ShellWord(word)
	}
	return strings.Join(words, " ")
}

// valuesOf returns the values of a flag of the running command.
func (c *cli) valuesOf(name string) []string {
	if name == c.piped {
		return []string{"-"}
	}
	return valuesOf(c.running.Flag(name))
}

// valuesOf returns the values that the command line gives f. f may be nil.
func valuesOf(f *pflag.Flag) []string {
	if f == nil || !f.Changed {
		return nil
	}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	return []string{f.Value.String()}
}

// spell returns the words that set f to value.
func spell(f *pflag.Flag, value string) []string {
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand
	}
	switch {
	case f.NoOptDefVal == "":
		return []string{name, value}
	case f.NoOptDefVal == value:
		return []string{name}
	}
	return []string{"--" + f.Name + "=" + value}
}

// helpOf returns the command line that shows the help of cmd.
func helpOf(cmd *cobra.Command) string { return cmd.CommandPath() + " --help" }
