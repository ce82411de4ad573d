package yaml

import (
	"slices"

	"gopkg.in/yaml.v3"
)

// Repetition is a name that an object has already.
type Repetition struct {
	Path         []any // to the member, as [Document.Position] has it
	Line, Column int   // of the name that is too many
	First        int   // the line that had it before
}

// ParseRepeating is [Parse], except that an object may have a name several times: the last counts, and Repeated has the
// others. It finds them in JSON too, if there is one text and it is YAML as well, and reads that by the rules of YAML.
func ParseRepeating(name string, data []byte) ([]Document, error) {
	return parseFile(name, data, true)
}

// repeated notes that key repeats name, of which the first is in a line above.
func (c *converter) repeated(name string, key *yaml.Node, first int) {
	path := append(slices.Clone(c.path), name)
	c.repetitions = append(c.repetitions, Repetition{path, key.Line, key.Column, first})
}
