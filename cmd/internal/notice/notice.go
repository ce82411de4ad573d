package notice

// Notice is one message of a run about its input.
type Notice struct {
	Class   Class
	Warning bool // the input is used nevertheless
	Where   Position
	Subject string // the object of the notice; empty if there is none, or if the text begins with it
	Text    string
}

// Class says in a word what a notice is about.
type Class string

// The classes of notices.
const (
	Unread    Class = "unread"     // a file, a document or an object cannot be read or used
	NoSchema  Class = "no-schema"  // no schema describes the kind of an object
	BadSchema Class = "bad-schema" // a schema cannot be used, or breaks a rule
	Refused   Class = "refused"    // a server refuses an object
	Odd       Class = "odd"        // an oddity that does not stop the command
)

// exitCode returns the exit code of a run with a notice of class k that is no warning.
func (k Class) exitCode() int {
	if k == Refused {
		return ExitFinding
	}
	return ExitInput
}
