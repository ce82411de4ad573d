package jsontext

// Mode says which strings a [Scanner] takes beside those that RFC 8259 demands, and what they mean.
//
//	                             Strict   Repair          Stored
//	a byte that is not UTF-8     error    U+FFFD          stays
//	\ud800 without \udc00        error    U+FFFD          U+FFFD
//	\ud800\u0041                 error    U+FFFD A        U+FFFD A
//	\ud800\ud800\udc00           error    U+FFFD U+10000  U+FFFD U+FFFD U+FFFD
//	TAB                          error    error           error
//	TAB behind an escape         error    error           stays
//	null, as a name, after a ,   error    error           the name ""
type Mode uint8

const (
	// Strict takes what RFC 8259 and RFC 3629 call JSON, and nothing else.
	Strict Mode = iota

	// Repair takes what encoding/json takes, and kube-apiserver with it for objects: U+FFFD stands
	// for every byte that is not UTF-8, and for every escape of half a surrogate pair.
	Repair

	// Stored takes what json-iterator takes, by which kube-apiserver reads fieldsV1. Bytes that are
	// not UTF-8 stay. Of an escape of half a surrogate pair and the \uXXXX behind it each becomes a
	// character of its own: the second is not tried as the first half of another pair. And
	// json-iterator looks for control characters only in front of the first escape of a string, and
	// not at all behind the end of the chunk in which the string begins, see [Scanner.Chunk].
	Stored
)

// NullName passes null where a name should be. It reports whether that is taken: by json-iterator,
// unless the member is the first of its object.
func (s *Scanner) NullName() bool {
	const null = "null"
	if s.Mode != Stored || len(s.Text)-s.Pos < len(null) || s.Text[s.Pos:s.Pos+len(null)] != null {
		return false
	}
	s.Pos += len(null)
	return true
}
