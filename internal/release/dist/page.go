package dist

import (
	"fmt"
	"strings"
	"time"

	"github.com/cpuguy83/go-md2man/v2/md2man"
)

// Page returns the manual page of a program or one of its subcommands. command has the words that call it. help is its help text, and
// the first paragraph of help says what the command does.
func Page(command []string, version string, help []byte, at time.Time) File {
	name := strings.Join(command, "-")
	about, rest, _ := strings.Cut(string(help), "\n\n")
	about = strings.TrimSuffix(strings.TrimPrefix(about, name+" "), ".")
	text := fmt.Sprintf("%% %q \"1\" %q %q %q\n\n# NAME\n\n%s - %s\n\n# DESCRIPTION\n\n```\n%s```\n",
		strings.ToUpper(name), at.UTC().Format("Jan 2006"), command[0]+" "+version, "deed", name, about, rest)
	return File{"man/man1/" + name + ".1", 0o644, md2man.Render([]byte(text))}
}

// Subcommands returns the subcommands that the help of a program lists, except completion and help, which every such program has.
func Subcommands(help []byte) (names []string) {
	_, list, _ := strings.Cut(string(help), "\nAvailable Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	for line := range strings.Lines(list) {
		if words := strings.Fields(line); len(words) > 0 && words[0] != "completion" && words[0] != "help" {
			names = append(names, words[0])
		}
	}
	return names
}
