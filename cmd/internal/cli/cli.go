package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/archive"
	"github.com/deed-project/deed/cmd/internal/checkpipe"
	"github.com/deed-project/deed/cmd/internal/connect"
	"github.com/deed-project/deed/cmd/internal/download"
	"github.com/deed-project/deed/cmd/internal/finding"
	"github.com/deed-project/deed/cmd/internal/kustomize"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/cmd/internal/validation"
	"github.com/deed-project/deed/internal/build"
)

// Run executes the command line args, which lack the name of the command. The name is the one of the process: a process called kubectl-deed
// calls itself kubectl deed. Run returns the exit code, the highest of [notice.ExitCodes] that applies.
func Run(args []string, in io.Reader, out, err io.Writer) int {
	return RunWith(Full{}, args, in, out, err)
}

// newCLI returns a run that reads from in and writes to out and err.
func newCLI(in io.Reader, out, err io.Writer) *cli {
	library := types.NewLibrary(&manifest.Loader{
		Log: notice.NewLog(err, out), In: in, Secrets: &secret.Rules{}, Kustomize: kustomize.Build, Download: download.Text, Unpack: archive.Unpack,
	})
	library.Validation = validation.Server{Checks: &checkpipe.Client{Program: askFull}}
	return &cli{Library: library, out: out, program: filepath.Base(os.Args[0])}
}

// cli is one run of the command.
type cli struct {
	*types.Library
	program   string // base name of the program that the process runs
	out       io.Writer
	running   *cobra.Command // the subcommand, nil before it starts
	args      []string
	newServer func(finding.ServerConfig) (finding.Server, error) // nil in a program without a server
	piped     string                                             // the flag that standard input stands for, if the command reads standard input by default
}

func (c *cli) run(args []string, root *cobra.Command) (code int) {
	defer func() {
		if x := recover(); x != nil {
			fmt.Fprintf(c.Log, "deed %s has a defect: %s\nPlease report it with the command line and what follows.\n\n%s",
				build.Read().Version, c.Secrets.Panic(x), debug.Stack())
			code = notice.ExitInternal
		}
	}()
	c.args = args
	// Only for a request of a shell: cobra keeps completions of flags, and with them all commands, as long as the process lives.
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		c.completeValues(root)
	}
	root.SetArgs(append([]string{}, args...)) // cobra would replace nil by the arguments of the process
	if cmd, err := root.ExecuteC(); err != nil {
		fmt.Fprintf(c.Log, "%s: %s\n", cmd.CommandPath(), strings.TrimRight(secret.Open.Error(err), "\n"))
		if failed := (*connect.RequestError)(nil); !errors.As(err, &failed) {
			fmt.Fprintf(c.Log, "See '%s'.\n", helpOf(cmd))
		}
		c.Raise(notice.ExitInput)
	}
	return c.Code
}

func (c *cli) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "deed",
		Short: "Kubernetes server-side apply without the cluster",
		Long: `Predict offline what Kubernetes server-side apply will do: the resulting object,
the owners of each of its fields, the conflicts of an apply, and the reasons.`,
		Version:           build.Read().Version,
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
	}
	root.SetIn(c.In)
	root.SetOut(c.out)
	root.SetErr(c.Err)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", ".FlagUsagesWrapped 80 "))
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) { c.running = cmd }
	root.Flags().Bool("version", false, "print the version of deed")
	root.SetVersionTemplate("deed {{.Version}}\n")
	root.PersistentFlags().BoolVar(&c.Secrets.Show, "show-secrets", false, "show the values of Secrets, and others that are passwords by their schema")
	root.SetHelpCommand(helpCommand())
	root.AddCommand(
		c.applyCommand(), c.updateCommand(), c.planCommand(), c.diffCommand(), c.replayCommand(), // write, or predict a write
		c.blameCommand(), c.fieldsCommand(), c.explainCommand(), c.extractCommand(), // show owners
		c.checkCommand(), c.validateCommand(), c.policyCommand(), c.schemaCommand(), // report defects
		c.migrateCommand(), c.transferCommand(), // hand fields over
		c.helmCommand(), c.krmCommand(), // serve other programs
		c.versionCommand(),
	)
	describeExits(root)
	c.nameAs(root)
	return root
}

// helpCommand returns cobra's help command, but with an error for an unknown topic.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Show the help of a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return fmt.Errorf("there is no command %q", strings.Join(args, " "))
			}
			topic.InitDefaultHelpFlag()
			return topic.Help()
		},
	}
}

// noArguments returns an error if there are arguments beside flags.
func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q: files are named with flags, such as -f", args[0])
	}
	return nil
}

// epochVariable names the environment variable that replaces the clock, a convention of reproducible builds.
const epochVariable = "SOURCE_DATE_EPOCH"

// clock returns the source of the times in managedFields. It is the clock of the system, or the constant time in SOURCE_DATE_EPOCH, in
// seconds since 1970, which makes the output the same in every run.
func clock() (func() time.Time, error) {
	text, ok := os.LookupEnv(epochVariable)
	if !ok {
		return time.Now, nil
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the environment variable %s is %q, which is no number of seconds", epochVariable, text)
	}
	return func() time.Time { return time.Unix(seconds, 0) }, nil
}
