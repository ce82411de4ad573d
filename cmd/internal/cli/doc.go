// Package cli is the command deed: flags become calls of the packages that do the work, and what
// they answer is printed. [Run] is the whole command; nothing in the package touches the process,
// its files beside those that are named on the command line, or the network.
//
// Each subcommand is one file, and one or more scripts under testdata/script. An object passes each
// room once: package manifest reads it, types finds its type, dryrun says what the write does,
// report prints that, and manifest writes it back.
//
// What every subcommand keeps to:
//
//   - Standard output has the answer and nothing else. Everything about the answer goes to standard
//     error.
//   - A problem of the input is one line, FILE:LINE:COLUMN: REASON. All problems are reported, and
//     one object's problems do not keep others from being answered.
//   - The exit code is the highest of those that apply, see [Run].
package cli
