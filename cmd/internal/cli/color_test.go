package cli

import (
	"regexp"
	"strings"
	"testing"

	"github.com/deed-project/deed/cmd/internal/notice"
)

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestColorChangesNothingElse checks that colored output is the plain output with escape sequences, and that auto is plain if the output is
// no terminal.
func TestColorChangesNothingElse(t *testing.T) {
	const docs, tales = "../../../testdata/docs/", "../../../testdata/replay/"
	for _, args := range [][]string{
		{"blame", "-f", docs + "live.yaml", "--time", "none"},
		{"plan", "-f", docs + "web.yaml", "--live", docs + "live.yaml", "--all"},
		{"plan", "-f", docs + "web.yaml", "--live", docs + "live.yaml", "--force-conflicts"},
		{"apply", "-f", docs + "web.yaml", "--live", docs + "live.yaml"},
		{"check", "--schemas", "--crd", docs + "crd.yaml"},
		{"replay", "-f", tales + "who-scales.yaml"},
	} {
		run := func(when string) string {
			var out, stderr strings.Builder
			if code := Run(append(args, "--color", when), strings.NewReader(""), &out, &stderr); code > notice.ExitFinding {
				t.Fatalf("%v: exit code %d: %s", args, code, stderr.String())
			}
			return out.String() + stderr.String()
		}
		plain, colored := run(colorNever), run(colorAlways)
		if !strings.Contains(colored, "\x1b[") || escapes.ReplaceAllString(colored, "") != plain || run(colorAuto) != plain {
			t.Errorf("%v: colored, it prints\n%s\nplain, it prints\n%s", args, colored, plain)
		}
	}
}
