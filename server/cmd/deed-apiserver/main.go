// Command deed-apiserver serves custom resources as kube-apiserver does, for kubectl and every other client:
//
//	deed-apiserver --crd crd.yaml
//
// says in four lines what it serves, what it does not enforce, and how to reach it. See docs/apiserver.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/internal/build"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Run serves until ctx is done, and returns the status that the process ends with.
func Run(ctx context.Context, args []string, out, errOut io.Writer) int {
	cmd := command(&options{})
	cmd.SetArgs(append([]string{}, args...)) // of nil, cobra would take those of the process
	cmd.SetOut(out)
	cmd.SetErr(errOut)
	err := cmd.ExecuteContext(ctx)
	var as *status
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &as):
		as = &status{1, err}
	}
	if as.err != nil {
		io.WriteString(errOut, "deed-apiserver: "+as.err.Error()+"\n")
	}
	return as.code
}

// status is the error of a run that ends with code, and says why unless err is nil.
type status struct {
	code int
	err  error
}

func (s *status) Error() string { return fmt.Sprintf("exit status %d: %v", s.code, s.err) }

// command returns the command, which has its flags in o.
func command(o *options) *cobra.Command {
	info := build.Read()
	cmd := &cobra.Command{
		Use:     "deed-apiserver",
		Long:    "deed-apiserver serves custom resources as kube-apiserver does.",
		Example: "  deed-apiserver --crd crd.yaml --kubeconfig kubeconfig",
		Version: info.Version,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("%q is no flag", args[0])
			}
			return o.check()
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.serve(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	cmd.SetVersionTemplate(info.Text("deed-apiserver"))
	o.addTo(cmd.Flags())
	cmd.AddCommand(verifyCommand())
	return cmd
}
