// Command deed-apiserver serves custom resources and built-in kinds as kube-apiserver does, for kubectl and every other client:
//
//	deed-apiserver --crd crd.yaml
//
// says in four lines what it serves, what it does not enforce, and how to reach it. See docs/apiserver.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/deed-project/deed/server/internal/command"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(command.Run(ctx, command.NameOf(os.Args[0]), os.Args[1:], os.Stdout, os.Stderr))
}
