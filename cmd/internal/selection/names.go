package selection

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/value"
)

// Names maps the names on a command line to kinds: the kind itself, its resource, its singular and its short names, in any case.
type Names struct {
	kinds map[string][]groupKind // by name in lower case
}

// NewNames returns the names of the built-in kinds, of the kinds that the CustomResourceDefinitions in definitions define, and of the kinds
// of the objects in live.
func NewNames(live *manifest.Live, definitions ...*manifest.Object) *Names {
	n := &Names{map[string][]groupKind{}}
	for k := range builtin.Kinds() {
		n.add(groupKind{k.GVK.Group, k.GVK.Kind}, append([]string{k.GVK.Kind, k.Resource, k.Singular}, k.ShortNames...)...)
	}
	for _, o := range definitions {
		spec := o.Content.Get("spec")
		names := spec.Get("names")
		all := []string{names.Get("kind").Str(), names.Get("plural").Str(), names.Get("singular").Str()}
		n.add(groupKind{spec.Get("group").Str(), names.Get("kind").Str()}, append(all, texts(names.Get("shortNames"))...)...)
	}
	for o := range live.All() {
		n.add(groupKind{o.Group, o.Kind}, o.Kind)
	}
	return n
}

func texts(list value.Value) (out []string) {
	for v := range list.Items() {
		out = append(out, v.Str())
	}
	return out
}

func (n *Names) add(kind groupKind, names ...string) {
	for _, name := range names {
		name = strings.ToLower(name)
		if name != "" && !slices.Contains(n.kinds[name], kind) {
			n.kinds[name] = append(n.kinds[name], kind)
		}
	}
}

// All returns all names, sorted.
func (n *Names) All() []string { return slices.Sorted(maps.Keys(n.kinds)) }

// ParseName splits the name of a kind on a command line: NAME, NAME.GROUP or NAME.VERSION.GROUP. qualified is false for the first, which does
// not say a group; the group of the core is empty.
func ParseName(text string) (name, version, group string, qualified bool) {
	name, group, qualified = strings.Cut(text, ".")
	if first, rest, _ := strings.Cut(group, "."); regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]+)?$`).MatchString(first) {
		version, group = first, rest
	}
	return name, version, group, qualified
}

// find returns the kinds called text: NAME, NAME.GROUP or NAME.VERSION.GROUP. If kinds in several groups have the name, it returns all of
// them.
func (n *Names) find(text string) (kinds []groupKind, in string, err error) {
	name, in, group, qualified := ParseName(text)
	for _, k := range n.kinds[strings.ToLower(name)] {
		if !qualified || k.group == group {
			kinds = append(kinds, k)
		}
	}
	slices.SortFunc(kinds, func(a, b groupKind) int { return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.kind, b.kind)) })
	if len(kinds) > 0 {
		return kinds, in, nil
	}
	hint := ""
	if meant := wording.Nearest(strings.ToLower(name), n.All()); meant != "" && meant != strings.ToLower(name) {
		hint = fmt.Sprintf("; did you mean %q?", meant)
	}
	return nil, "", fmt.Errorf("no kind in the input, in --crd or built in is called %q%s", text, hint)
}

// fileAmong returns an error if one of the arguments, which should be objects, is a file.
func fileAmong(arguments []string) error {
	for _, a := range arguments {
		if _, err := os.Stat(a); err == nil {
			return fmt.Errorf("%s is a file: name files with flags, such as -f, and objects as TYPE/NAME", a)
		}
	}
	return nil
}
