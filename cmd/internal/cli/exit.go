package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/notice"
)

// refusedObject is the part of findingOf that all writing commands share.
const refusedObject = "an object that is invalid or refused"

// findingOf says what exit code 1 means, by the path of each command below the root. Commands without an entry never return 1.
var findingOf = map[string]string{
	"apply":       "a conflict, or " + refusedObject,
	"update":      refusedObject,
	"plan":        "a conflict, or " + refusedObject + " (with --exit-code, also a change)",
	"diff":        "a difference, a conflict, or " + refusedObject,
	"replay":      "an unexpected conflict, " + refusedObject + ", or an expected conflict or error that did not occur",
	"extract":     "an object that the manager has not applied",
	"check":       "a finding",
	"validate":    "an invalid object",
	"helm plan":   "a conflict, or " + refusedObject + " (with --exit-code, also a change)",
	"krm":         "a finding, a conflict, or " + refusedObject,
	"policy test": "a case that is not decided as expected, or a policy that a server refuses",
	"schema list": "no such kind",
	"schema diff": "a difference",
	"migrate":     "an object that cannot be migrated, or whose next apply is in conflict or removes something",
	"transfer":    "nothing to transfer, or an object whose next apply is in conflict or removes something",
}

// pathOf returns the path of a command below the root, such as schema list.
func pathOf(cmd *cobra.Command) string {
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	return path
}

// describeExits appends the exit codes to the help of root and of each command below it.
func describeExits(root *cobra.Command) {
	var b strings.Builder
	for code, meaning := range notice.ExitCodes {
		fmt.Fprintf(&b, "\n  %d  %s", code, meaning)
	}
	root.Long += "\n\nExit codes, of which the highest that applies counts:\n" + b.String()
	for _, cmd := range commandsBelow(root) {
		if finding := findingOf[pathOf(cmd)]; finding != "" {
			cmd.Long += "\n\n" + wrap("Exit codes: 0 done; 1 "+finding+"; 2 wrong usage, or input that could not be read; 3 deed failed.", 80)
		}
	}
}

// commandsBelow returns the runnable commands below cmd, in the order of the help.
func commandsBelow(cmd *cobra.Command) []*cobra.Command {
	var out []*cobra.Command
	for _, sub := range cmd.Commands() {
		if sub.HasSubCommands() {
			out = append(out, commandsBelow(sub)...)
		} else if sub.Runnable() {
			out = append(out, sub)
		}
	}
	return out
}

// wrap breaks text into lines of at most width bytes.
func wrap(text string, width int) string {
	var b strings.Builder
	used := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case used == 0:
		case used+1+len(word) > width:
			b.WriteByte('\n')
			used = 0
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += len(word)
	}
	return b.String()
}
