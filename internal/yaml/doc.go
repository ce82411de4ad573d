// Package yaml converts the text of Kubernetes manifests to values and back. It is the only package that knows YAML.
//
// [Parse] parses a stream of YAML documents or JSON texts. A [Document] is one of them, with the source positions of its parts. [Append]
// prints a value as kubectl -o yaml does.
//
// Kubernetes reads YAML 1.1, by the rules of one old parser. Parse follows these rules:
//
//  1. Unquoted y, yes, on and true are true, and n, no, off and false are false, in lower, upper and title case. ~, null and an omitted
//     value are null.
//  2. An unquoted number may be octal (012, 0o12), hexadecimal (0x1f) or binary (0b11), may have a sign and hold
//     underscores. 08 is decimal.
//  3. A number without fraction, 1.0 and 1e3 too, is an integer when an int64 holds it, and otherwise a float. A number
//     that overflows a float64, such as 1e400, is a string. Infinities and NaN are errors.
//  4. A timestamp is a string.
//  5. Names are strings: an unquoted name that is a number or boolean becomes its text, so that y: 1 has the name "true".
//     A float is printed as a float32.
//  6. !!str makes a scalar a string. !!int, !!float, !!bool, !!null and !!timestamp require a scalar of their type. !!binary is decoded.
//     Under every other tag a scalar is a string. Tags of lists and objects mean nothing.
//  7. An alias has the value of its anchor. A member after a << replaces the member of the same name from the <<. In the list of one <<,
//     the first object with a name wins. Of two <<, the second wins.
//
// Parse reports an error where Kubernetes loses data silently:
//
//  8. A duplicate name in an object is an error, also if only rule 5 makes the names equal, as in 1 and "1".
//  9. A << after a member is an error if it has another value for that member. Kubernetes takes the value of the <<, and other readers
//     take the member's own.
//  10. All documents are read, not only the first. Only another document, which begins with ---, may follow a document.
//  11. !!binary that is not UTF-8 is an error.
//
// Two rules protect the program from its input:
//
//  12. Aliases may add no more than 16 MiB to a document, and must not contain themselves.
//  13. Lists and objects nest no deeper than [value.MaxDepth].
//
// The package uses gopkg.in/yaml.v3 to scan text and to build nodes. It does not use that library's rules for types, which differ.
package yaml
