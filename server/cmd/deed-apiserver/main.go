// Command deed-apiserver serves custom resources as kube-apiserver does, for kubectl and every other client:
//
//	deed-apiserver --crd crd.yaml
//
// says in four lines what it serves, what it does not enforce, and how to reach it. See docs/apiserver.md.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/deed-project/deed/internal/build"
)

func main() {
	paceGarbage()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	paceCores(ctx)
	os.Exit(Run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Run serves until ctx is done, and returns the status that the process ends with.
func Run(ctx context.Context, args []string, out, errOut io.Writer) int {
	if len(args) > 0 && args[0] == "verify" {
		return verify(args[1:], out, errOut)
	}
	o, err := parse(args, errOut)
	switch {
	case err == errHelp:
		return 0
	case err == nil && o.version:
		_, err = io.WriteString(out, build.Read().Text("deed-apiserver"))
	case err == nil:
		err = o.serve(ctx, out, errOut)
	}
	if err != nil {
		io.WriteString(errOut, "deed-apiserver: "+err.Error()+"\n")
		return 1
	}
	return 0
}
