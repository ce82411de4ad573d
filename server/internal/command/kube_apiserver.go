package command

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/server"
)

// kubeAPIServerCommand returns the command in the place of kube-apiserver, with its flags in o, and the part of args that it
// knows.
//
// It takes the flags of [command] and warns of all others. Where kube-apiserver and deed-apiserver begin with something else, it does what
// kube-apiserver does: it listens on all addresses, runs no controllers, refuses privileged containers, and has all admission plugins and
// priority and fairness on. If --etcd-servers names the program of [etcdCommand], the objects are kept in a file in its folder.
func kubeAPIServerCommand(o *options, args []string, errOut io.Writer) (*cobra.Command, []string) {
	o.etcd.inFiles = true
	cmd := command(o)
	cmd.Use, cmd.Example = KubeAPIServer, ""
	cmd.Long = "The program is deed-apiserver in the place of kube-apiserver, whose flags it takes."
	f := cmd.Flags()
	o.bindAddress, o.controllers, o.fairness, o.privileged = "0.0.0.0", []string{}, true, false
	f.Lookup("bind-address").DefValue, f.Lookup("controllers").DefValue = o.bindAddress, "[]"
	f.Lookup("enable-priority-and-fairness").DefValue, f.Lookup("allow-privileged").DefValue = "true", "false"
	f.Lookup("enable-admission-plugins").Usage = "admission plugins to switch on: all but " + strings.Join(offPlugins, ", ") + " are on by default"
	check := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		o.choosePlugins(errOut)
		return check(cmd, args)
	}
	return cmd, knownArguments(f, args, KubeAPIServer, errOut)
}

// Place is where a server listens.
type Place struct {
	Address string // host and port
	CA      []byte // what clients must trust, in PEM; nil for a certificate of others
}

// ServeAsKubeAPIServer serves as [KubeAPIServer] with its flags in args until ctx is done. It calls ready once when it answers.
func ServeAsKubeAPIServer(ctx context.Context, args []string, out, errOut io.Writer, ready func(Place)) error {
	cmd, args := kubeAPIServerCommand(&options{ready: ready}, args, errOut)
	cmd.SetArgs(args)
	cmd.SetOut(out)
	cmd.SetErr(errOut)
	return cmd.ExecuteContext(ctx)
}

// offPlugins are the plugins that kube-apiserver has off unless its flags switch them on.
var offPlugins = []string{"NodeRestriction"}

// choosePlugins switches on the plugins that are on in kube-apiserver by default, which are all that this server has but offPlugins. It tells w
// of names of plugins that this server does not have.
func (o *options) choosePlugins(w io.Writer) {
	all := server.AdmissionPlugins()
	asked := knownPlugins(o.enable, all, "enable-admission-plugins", w)
	o.disable = knownPlugins(o.disable, all, "disable-admission-plugins", w)
	o.enable = slices.DeleteFunc(all, func(name string) bool {
		return slices.Contains(o.disable, name) || slices.Contains(offPlugins, name) && !slices.Contains(asked, name)
	})
}
