package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/deed-project/deed/cmd/internal/report"
)

// choice is the value of a flag that allows a few values.
type choice struct {
	value   string
	allowed []string
}

// String implements [pflag.Value].
func (c *choice) String() string { return c.value }

// Type implements [pflag.Value].
func (c *choice) Type() string { return strings.Join(c.allowed, "|") }

// Set implements [pflag.Value].
func (c *choice) Set(text string) error {
	if slices.Contains(c.allowed, text) {
		c.value = text
		return nil
	}
	return fmt.Errorf("must be one of %s", strings.Join(c.allowed, ", "))
}

// strictness is the value of the flag --validate of kubectl.
type strictness struct{ choice }

// register adds the flag. strict is the default.
func (s *strictness) register(flags *pflag.FlagSet, usage string) {
	const name = "validate"
	s.choice = choice{report.StrictMode, []string{report.StrictMode, report.WarnMode, report.IgnoreMode}}
	flags.Var(s, name, usage)
	flags.Lookup(name).NoOptDefVal = report.StrictMode
}

// Set implements [pflag.Value]. Like kubectl, it takes true for strict, and false for ignore.
func (s *strictness) Set(text string) error {
	switch text {
	case "true":
		text = report.StrictMode
	case "false":
		text = report.IgnoreMode
	}
	return s.choice.Set(text)
}

// list is the value of a flag that may be repeated. Unlike a list of pflag, it does not format its values as CSV when it is registered, which
// was a third of the memory of a start.
type list struct{ values *[]string } // the flag appends to it

// String implements [pflag.Value].
func (l list) String() string { return strings.Join(l.GetSlice(), ",") }

// Type implements [pflag.Value].
func (l list) Type() string { return "stringArray" }

// Set implements [pflag.Value].
func (l list) Set(text string) error { return l.Append(text) }

// Append implements [pflag.SliceValue].
func (l list) Append(text string) error {
	*l.values = append(*l.values, text)
	return nil
}

// Replace implements [pflag.SliceValue].
func (l list) Replace(texts []string) error {
	*l.values = slices.Clone(texts)
	return nil
}

// GetSlice implements [pflag.SliceValue].
func (l list) GetSlice() []string { return slices.Clone(*l.values) }

// registerServerSide adds the flag --server-side of kubectl, which deed accepts because it always applies that way.
func registerServerSide(flags *pflag.FlagSet) {
	flags.Var(new(always), "server-side", "as in kubectl; deed always applies this way")
	flags.Lookup("server-side").NoOptDefVal = "true"
}

// always is the value of a flag that cannot be turned off.
type always struct{}

// String implements [pflag.Value].
func (*always) String() string { return "true" }

// Type implements [pflag.Value].
func (*always) Type() string { return "bool" }

// Set implements [pflag.Value].
func (*always) Set(text string) error {
	if on, err := strconv.ParseBool(text); err != nil || !on {
		return errors.New("deed has no client-side apply")
	}
	return nil
}
