package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/internal/build"
)

// Run carries out the command line args, without the name of the command, which is that of the
// process: the command calls itself kubectl deed where that is kubectl-deed. It returns the exit
// code, the highest of [notice.ExitCodes] that applies.
func Run(args []string, in io.Reader, out, err io.Writer) int {
	c := newCLI(in, out, err)
	return c.run(args, c.rootCommand())
}

// newCLI returns a run that reads in and writes to out and err.
func newCLI(in io.Reader, out, err io.Writer) *cli {
	loader := &manifest.Loader{Log: notice.NewLog(err, out), In: in, Secrets: &secret.Rules{}}
	return &cli{Library: types.NewLibrary(loader), out: out, program: filepath.Base(os.Args[0])}
}

// cli is one run of the command.
type cli struct {
	*types.Library
	program string // what the process runs, without its directory
	out     io.Writer
	running *cobra.Command // the command that runs, once it does
	piped   string         // the flag that standard input stands for, if the command reads it without being told
}

func (c *cli) run(args []string, root *cobra.Command) (code int) {
	defer func() {
		if x := recover(); x != nil {
			fmt.Fprintf(c.Log, "deed %s has a defect: %s\nPlease report it with the command line and what follows.\n\n%s",
				build.Read().Version, c.Secrets.Panic(x), debug.Stack())
			code = notice.ExitInternal
		}
	}()
	root.SetArgs(append([]string{}, args...)) // of nil, cobra would take those of the process
	if cmd, err := root.ExecuteC(); err != nil {
		fmt.Fprintf(c.Log, "%s: %s\nSee '%s'.\n", cmd.CommandPath(), strings.TrimRight(secret.Open.Error(err), "\n"), helpOf(cmd))
		c.Raise(notice.ExitInput)
	}
	return c.Code
}

func (c *cli) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "deed",
		Short: "Kubernetes server-side apply without the cluster",
		Long: `Deed says offline what Kubernetes server-side apply will do: what an object will
be, who owns each of its fields, with whom an apply conflicts, and why.`,
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
		c.applyCommand(), c.updateCommand(), c.planCommand(), c.diffCommand(), c.replayCommand(), // write, or say what that would do
		c.blameCommand(), c.fieldsCommand(), c.explainCommand(), c.extractCommand(), // say who owns what
		c.checkCommand(), c.validateCommand(), c.schemaCommand(), // say what is wrong
		c.migrateCommand(), c.transferCommand(), // hand fields over
		c.versionCommand(),
	)
	describeExits(root)
	c.completeValues(root)
	c.nameAs(root)
	return root
}

// helpCommand is cobra's, except that a topic that does not exist is an error.
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

// noArguments refuses arguments that are no flags.
func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q: files are named with flags, such as -f", args[0])
	}
	return nil
}

// epochVariable names the environment variable that takes the place of the clock, as agreed for
// reproducible builds.
const epochVariable = "SOURCE_DATE_EPOCH"

// clock returns what tells the time that goes into managedFields: the clock, or always the time
// that the environment variable SOURCE_DATE_EPOCH has, in seconds since 1970, for output that is
// the same in every run.
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
