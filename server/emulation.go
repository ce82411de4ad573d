package server

import (
	"fmt"

	"github.com/deed-project/deed/schema/builtin"
)

// emulation is the release that a server emulates. The zero value is the current one.
type emulation struct{ *builtin.Release }

// emulate selects a release by its name. An empty name is that of the current one.
func (e *emulation) emulate(name string) (err error) {
	if name == "" {
		return nil
	}
	if e.Release, err = builtin.Emulated(name); err != nil || e.Release.Minor() < builtin.FirstEmulated {
		return fmt.Errorf("emulation version %s is not between [1.%d, 1.%d.0]", name, builtin.FirstEmulated, builtin.CurrentMinor)
	}
	return nil
}

// minor returns the number of the minor release.
func (e emulation) minor() int {
	if e.Release == nil {
		return builtin.CurrentMinor
	}
	return e.Minor()
}
