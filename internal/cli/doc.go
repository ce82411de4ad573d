// Package cli is the command deed: it reads objects from files, has the other packages do the work, and prints what they
// answer. [Run] is the whole command; nothing in the package touches the process, its files beside those that are named on
// the command line, or the network.
//
// Its nouns: an object is an API object with the place it was found at, so that every message can say where; liveObjects
// finds the stored object that a configuration is about; types finds the type of a kind in the schemas at hand; a printer
// writes objects. Each subcommand is one file, and one or more scripts under testdata/script.
//
// What every subcommand keeps to:
//
//   - Standard output has the answer and nothing else. Everything about the answer goes to standard error.
//   - A problem of the input is one line, FILE:LINE:COLUMN: REASON. All problems are reported, and one object's problems do
//     not keep others from being answered.
//   - The exit code is the highest of those that apply, see [Run].
package cli
