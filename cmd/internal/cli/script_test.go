package cli

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/deed-project/deed/cmd/internal/checks"
	"github.com/deed-project/deed/cmd/internal/judge"
)

var update = flag.Bool("update", false, "re-record the golden sections of the scripts")

// validating is what deed-validate has.
var validating = Full{NewServer: judge.New, Checks: checks.Local{}}

const scripts = "../../../testdata/script"

func TestMain(m *testing.M) {
	delegating = false
	command := func() {
		delegating = true
		os.Exit(runPrinting(Full{}))
	}
	testscript.Main(m, map[string]func(){
		"deed": command, "kubectl-deed": command, fullProgram: func() { os.Exit(runPrinting(validating)) },
	})
}

// TestScripts runs the scripts, in which the time is always 2026-01-01T00:00:00Z and $ROOT is the root of the repository. It adds a command
// to those of testscript:
//
//	exits CODE deed ARGUMENT...
//
// checks for that exit code. Plain deed must exit with 0. Command lines that deed prints are run too, see runPrinting.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	printed := wantPrinted(t, "deed migrate --live", "deed apply --help", "deed schema show", "kubectl deed blame --help")
	testscript.Run(t, testscript.Params{
		Dir:                scripts,
		UpdateScripts:      *update,
		RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv(epochVariable, "1767225600")
			env.Setenv("ROOT", root)
			env.Setenv(printedVariable, printed)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARGUMENT...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// TestExamples checks that the script COMMAND_examples.txtar runs the examples in the help of each command. Parts before a | and behind a >
// belong to other programs and are ignored, as are lines that set variables.
func TestExamples(t *testing.T) {
	for _, cmd := range newCLI(nil, nil, nil).rootCommand().Commands() {
		if cmd.Example == "" {
			continue
		}
		script, err := os.ReadFile(filepath.Join(scripts, cmd.Name()+"_examples.txtar"))
		if err != nil {
			t.Error(err)
			continue
		}
		lines := strings.Split(string(script), "\n")
		for example := range strings.Lines(cmd.Example) {
			command, piped, _ := strings.Cut(example, " | ")
			if strings.HasPrefix(piped, "deed ") {
				command = piped
			}
			command, _, _ = strings.Cut(command, " > ")
			command = strings.TrimSpace(command)
			runs := func(line string) bool {
				_, exits, found := strings.Cut(line, "exits 1 ")
				return line == command || found && exits == command
			}
			if strings.HasPrefix(command, "deed ") && !slices.ContainsFunc(lines, runs) {
				t.Errorf("the script has no line %q", command)
			}
		}
	}
}
