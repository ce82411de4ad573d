// Command deed-validate is deed with an API server in it, which validates objects. deed runs it for the commands that need the server, from
// its own directory or from PATH, and it takes the same command lines.
package main

import (
	"os"

	"github.com/deed-project/deed/cmd/internal/checks"
	"github.com/deed-project/deed/cmd/internal/cli"
	"github.com/deed-project/deed/cmd/internal/judge"
)

func main() {
	full := cli.Full{NewServer: judge.New, Checks: checks.Local{}}
	os.Exit(cli.RunWith(full, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
