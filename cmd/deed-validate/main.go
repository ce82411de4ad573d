// Command deed-validate is deed with an API server in it, which validates objects. deed runs it for the commands that need the server, from
// its own directory or from PATH, and it takes the same command lines.
package main

import (
	"os"
	"runtime/debug"

	"github.com/deed-project/deed/cmd/internal/cli"
	"github.com/deed-project/deed/cmd/internal/judge"
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // most of what a short run allocates, it also needs until its end
	}
	os.Exit(cli.RunWith(judge.New, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
