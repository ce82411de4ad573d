package yaml

import (
	"slices"

	"gopkg.in/yaml.v3"
)

// Repetition is a duplicate name in an object.
type Repetition struct {
	Path         []any // to the member, as for [Document.Position]
	Line, Column int   // of the duplicate name
	First        int   // line of the first occurrence
}

// ParseRepeating parses like [Parse], but accepts duplicate names: the last value counts, and Repeated lists the duplicates. It also finds
// duplicates in a single JSON text that is valid YAML. It parses such a text by the rules of YAML.
func ParseRepeating(name string, data []byte) ([]Document, error) {
	return parseFile(name, data, true)
}

// repeated records that key repeats name. first is the line of the first occurrence.
func (c *converter) repeated(name string, key *yaml.Node, first int) {
	path := append(slices.Clone(c.path), name)
	c.repetitions = append(c.repetitions, Repetition{path, key.Line, key.Column, first})
}
