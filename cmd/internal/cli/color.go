package cli

import (
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/report"
)

// colorFlags holds the flag that turns colors on or off.
type colorFlags struct{ when choice }

const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

func (f *colorFlags) register(flags *pflag.FlagSet) {
	f.when = choice{colorAuto, []string{colorAuto, colorAlways, colorNever}}
	flags.Var(&f.when, "color", "color the output; auto means on a terminal, unless NO_COLOR is set or TERM is dumb")
}

// painter returns the painter of text that goes to w.
func (f colorFlags) painter(w io.Writer) report.Painter {
	switch f.when.value {
	case colorAlways:
		return true
	case colorNever:
		return false
	}
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	return report.Painter(notice.IsTerminal(w))
}
