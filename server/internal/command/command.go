// Package command is the command deed-apiserver: its flags, and the server that they describe. The program also stands in the place of the
// kube-apiserver and the etcd that the package envtest of controller-runtime starts, if it has their name.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/internal/build"
)

// Name is what the program is called, unless it stands in the place of another.
const Name = "deed-apiserver"

// Run is a run of the program of a name: [Name], [KubeAPIServer] or [Etcd]. It serves until ctx is done, and returns the status that the
// process ends with.
func Run(ctx context.Context, name string, args []string, out, errOut io.Writer) int {
	var cmd *cobra.Command
	switch name {
	case KubeAPIServer:
		cmd, args = kubeAPIServerCommand(&options{}, args, errOut)
	case Etcd:
		cmd, args = etcdCommand(args, errOut)
	default:
		name, cmd = Name, command(&options{})
	}
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
		io.WriteString(errOut, name+": "+as.err.Error()+"\n")
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
		Use:     Name,
		Long:    "deed-apiserver serves custom resources and built-in kinds as kube-apiserver does.",
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
	cmd.AddCommand(verifyCommand(), assetsCommand())
	return cmd
}
