package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
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
	for _, a := range c.allowed {
		if text == a {
			c.value = text
			return nil
		}
	}
	return fmt.Errorf("must be one of %s", strings.Join(c.allowed, ", "))
}

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
