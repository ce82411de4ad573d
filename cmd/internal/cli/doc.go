// Package cli implements the command deed. It turns flags into calls of the packages that do the work, and prints their answers. [Run] is
// the whole command. Packages connect, download and helm reach the network and other programs; [cli.delegate] runs deed-validate.
//
// Each subcommand has one file, and one or more scripts under testdata/script. An object passes the packages in this order: manifest reads
// it, types finds its type, dryrun computes the write, report prints the outcome, and manifest writes it back.
//
// Every subcommand keeps these rules:
//
//   - Standard output has the answer and nothing else. Everything about the answer goes to standard error.
//   - A problem of the input is one line, FILE:LINE:COLUMN: REASON. All problems are reported, and the problems of one object do not keep the
//     other objects from being processed.
//   - The exit code is the highest one that applies, see [Run].
package cli
