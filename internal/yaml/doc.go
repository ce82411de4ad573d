// Package yaml converts the text of Kubernetes manifests to values and back. It is the only package that knows YAML.
//
// [Parse] parses a stream of YAML documents or JSON texts. A [Document] is one of them, with the source positions of its parts. [Append]
// prints a value as kubectl -o yaml does.
//
// Kubernetes reads YAML 1.1, by the rules of one old parser. Parse follows these rules:
//
//  1. An unquoted y, yes, on and true is true, and n, no, off and false is false, in lower, upper and title case.
//     ~, null and nothing at all is null.
//  2. An unquoted number may be octal (012, 0o12), hexadecimal (0x1f) or binary (0b11), may have a sign and hold
//     underscores. 08 is decimal.
//  3. A number without fraction, 1.0 and 1e3 too, is an integer when an int64 holds it, and otherwise a float. A number
//     that overflows a float64, such as 1e400, is a string. Infinities and NaN are errors.
//  4. A timestamp is a string.
//  5. Names are strings: an unquoted name that is a number or boolean becomes its text, so that y: 1 has the name "true".
//     A float is printed as a float32.
//  6. !!str, !!int, !!float, !!bool, !!null and !!timestamp demand what they say, !!binary is decoded, and under every
//     other tag a scalar is a string. Tags of lists and objects mean nothing.
//  7. An alias stands for the value of its anchor. The members that << brings are replaced by members that follow; of the
//     objects in the list of one <<, the first that has a name wins; of two <<, the second.
//
// Parse reports an error where Kubernetes loses data silently:
//
//  8. A name twice in one object is an error, also when the names differ only before rule 5, as in 1 and "1".
//  9. A << behind a member that it has another value for is an error: Kubernetes takes the value of <<, other readers the
//     member's own.
//  10. All documents are read, not only the first, and nothing may follow a document but another that begins with ---.
//  11. !!binary that is not UTF-8 is an error.
//
// Two rules protect the program from its input:
//
//  12. Aliases may add no more than 16 MiB to a document, and must not contain themselves.
//  13. Lists and objects nest no deeper than [value.MaxDepth].
//
// The package uses gopkg.in/yaml.v3 to scan text and to build nodes. It does not use that library's rules for types, which differ.
package yaml
