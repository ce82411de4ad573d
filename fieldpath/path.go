package fieldpath

import "slices"

// Path leads from an object to one of its fields or items. The empty Path is the object itself.
type Path []Element

// String returns p as messages show it, such as .spec.ports[port=80]. Names are not quoted, so
// different paths may look alike. [Path.Text] returns different texts for different paths.
func (p Path) String() string { return p.styled(styleDisplay) }

// styled returns p in the given style.
func (p Path) styled(s style) string {
	var b []byte
	for _, e := range p {
		b = e.appendStyled(b, s)
	}
	return string(b)
}

// Text returns p as text that [ParsePath] reads back as p. It differs from String in two ways.
// Names with characters other than ASCII letters, digits and _ $ @ / - are JSON strings, and so is
// the empty name. Values are canonical JSON:
//
//	.metadata.annotations."example.com/owner"
//	.spec.ports[port=1000000,protocol="TCP"].targetPort
//	.metadata.finalizers[="example.com/guard"]
//	.args[2]
func (p Path) Text() string { return p.styled(styleText) }

// HasPrefix reports whether p begins with prefix. Each path begins with itself and the empty path.
func (p Path) HasPrefix(prefix Path) bool {
	return len(p) >= len(prefix) && slices.Equal(p[:len(prefix)], prefix)
}
