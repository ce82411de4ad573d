package jsontext

// Mode selects the strings that a [Scanner] accepts beyond RFC 8259, and their meaning.
//
//	                             Strict   Repair          Stored
//	a byte that is not UTF-8     error    U+FFFD          stays
//	\ud800 without \udc00        error    U+FFFD          U+FFFD
//	\ud800\u0041                 error    U+FFFD A        U+FFFD A
//	\ud800\ud800\udc00           error    U+FFFD U+10000  U+FFFD U+FFFD U+FFFD
//	TAB                          error    error           error
//	TAB after an escape          error    error           stays
//	null, as a name, after a ,   error    error           the name ""
type Mode uint8

const (
	// Strict accepts exactly the JSON of RFC 8259 and RFC 3629.
	Strict Mode = iota

	// Repair accepts the strings that encoding/json accepts, as kube-apiserver does for objects. It replaces every byte that is
	// not UTF-8, and every escape of half a surrogate pair, by U+FFFD.
	Repair

	// Stored accepts the strings that json-iterator accepts; kube-apiserver reads fieldsV1 with json-iterator. Bytes that are not
	// UTF-8 stay. An escape of half a surrogate pair and the \uXXXX after it become two characters. The second is not tried as the
	// first half of another pair. json-iterator looks for control characters only before the first escape of a string. It also
	// stops at the end of the chunk in which the string begins, see [Scanner.Chunk].
	Stored

	// Skipping finds the ends of strings and values, and checks neither. It is for texts that are parsed before or afterwards. For
	// valid JSON, it passes the same text as the other modes. It does not read the content of strings.
	Skipping
)

// NullName passes null in place of a name. It reports whether null is accepted: json-iterator accepts it, except for the first
// member of an object.
func (s *Scanner) NullName() bool {
	const null = "null"
	if s.Mode != Stored || len(s.Text)-s.Pos < len(null) || s.Text[s.Pos:s.Pos+len(null)] != null {
		return false
	}
	s.Pos += len(null)
	return true
}
