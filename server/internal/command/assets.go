package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The programs that the envtest package of controller-runtime starts. This program behaves as one of them if it has its name.
const (
	KubeAPIServer = "kube-apiserver"
	Etcd          = "etcd"
)

// NameOf returns the name of the program whose file is called path.
func NameOf(path string) string { return strings.TrimSuffix(filepath.Base(path), ".exe") }

// assetsCommand is the subcommand that writes these programs to a folder.
func assetsCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "assets DIR",
		Short:   "Write programs kube-apiserver and etcd to a folder, for KUBEBUILDER_ASSETS",
		Example: "  eval $(deed-apiserver assets bin/deed) && go test ./...",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := writeAssets(args[0])
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "export KUBEBUILDER_ASSETS=%s\n", quoted(dir))
			}
			return err
		},
	}
}

// quoted returns text as one word of a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// writeAssets writes copies of this program to a folder, under the names of those that envtest starts, and returns its absolute name.
// Files of these names are replaced, also while they run.
func writeAssets(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for _, name := range []string{KubeAPIServer, Etcd} {
		to := filepath.Join(dir, name+strings.TrimPrefix(filepath.Base(own), NameOf(own))) // with .exe, where programs have it
		if err := replace(own, to); err != nil {
			return "", fmt.Errorf("%s: %w", to, err)
		}
	}
	return dir, nil
}

// replace makes to a copy of the program from. The copy is a link to the same file where the file system can do that. It gets its name
// when it is complete.
func replace(from, to string) error {
	part := to + ".new"
	if err := os.Remove(part); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if os.Link(from, part) != nil { // such as on another file system
		if err := copyProgram(from, part); err != nil {
			return errors.Join(err, os.Remove(part))
		}
	}
	return os.Rename(part, to)
}

func copyProgram(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close() // it was only read
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}

// knownArguments returns args without flags that f lacks, and tells w of each flag that is left out, as a flag of the named program.
//
// The word after a flag that f lacks is its value, unless that looks like a flag. The programs have flags of that form only for values.
func knownArguments(f *pflag.FlagSet, args []string, program string, w io.Writer) []string {
	var known []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(known, args[i:]...)
		}
		name, isFlag := strings.CutPrefix(args[i], "--")
		name, _, hasValue := strings.Cut(name, "=")
		if !isFlag || name == "help" || name == "version" || f.Lookup(name) != nil {
			known = append(known, args[i])
			continue
		}
		fmt.Fprintf(w, "%s: --%s has no effect in %s\n", program, name, Name)
		if !hasValue && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			i++
		}
	}
	return known
}

// knownPlugins returns those names that all has, and tells w of the others as of values of a flag.
func knownPlugins(names, all []string, flag string, w io.Writer) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		if slices.Contains(all, name) {
			return false
		}
		fmt.Fprintf(w, "%s: --%s: %s has no plugin %q\n", KubeAPIServer, flag, Name, name)
		return true
	})
}
