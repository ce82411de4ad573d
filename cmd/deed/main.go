// Command deed predicts offline what Kubernetes server-side apply will do: see deed help.
package main

import (
	"os"

	"github.com/deed-project/deed/cmd/internal/cli"
)

func main() {
	os.Exit(cli.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
