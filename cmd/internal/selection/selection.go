// Package selection finds the objects of the input that a command line selects.
//
// Its nouns: a [Query] holds the arguments in the form of kubectl get; [Names] maps names to kinds; a [Selection] is a query with resolved
// kinds that selects objects. Package selector selects paths in an object.
package selection

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Query is a query for objects. The zero Query selects all objects.
type Query struct {
	Arguments []string // TYPE/NAME..., or TYPE NAME..., in which TYPE may be several, separated by commas
	Namespace string   // objects without a namespace match, too
	Name      string
	Labels    string // a selector in the form of kubectl -l
	AllSpaces bool   // whether a cluster is searched in all namespaces, and not in one; of files, all are searched anyway
}

// IsAll reports whether q selects all objects.
func (q Query) IsAll() bool { return len(q.Arguments) == 0 && q.Namespace+q.Name+q.Labels == "" }

// String returns q for a message.
func (q Query) String() string {
	words := slices.Clone(q.Arguments)
	for _, flag := range [][2]string{{"--namespace", q.Namespace}, {"--name", q.Name}, {"--selector", q.Labels}} {
		if flag[1] != "" {
			words = append(words, flag[0]+" "+wording.ShellWord(flag[1]))
		}
	}
	return strings.Join(words, " ")
}

// Selection selects objects.
type Selection struct {
	query  Query
	wanted []wanted // empty for all kinds and names
	found  atomic.Int64
}

// Reader returns r restricted to the selected objects, and counts them.
func (s *Selection) Reader(r manifest.Reader) manifest.Reader {
	r.Want = func(v value.Value) bool {
		if !s.wants(v) {
			return false
		}
		s.found.Add(1)
		return true
	}
	return r
}

// Found returns the number of selected objects that readers of s have found so far; an object counts each time it is read.
func (s *Selection) Found() int { return int(s.found.Load()) }

// wanted selects the objects of some kinds, or one of them.
type wanted struct {
	kinds   []groupKind
	version string // empty for any
	name    string // empty for any
}

// groupKind is a kind in all its versions.
type groupKind struct{ group, kind string }

// Of resolves the kinds of q with names. The errors are those of the command line: unknown kinds and malformed selectors.
func Of(q Query, names *Names) (*Selection, error) {
	s := &Selection{query: q}
	if _, err := matches(q.Labels, value.Value{}); err != nil {
		return nil, fmt.Errorf("--selector: %w", err)
	}
	pairs, err := pairsOf(q.Arguments)
	if err != nil {
		return nil, err
	}
	for _, p := range pairs {
		w := wanted{name: p.Name}
		if w.kinds, w.version, err = names.find(p.Kind); err != nil {
			return nil, cmp.Or(fileAmong(q.Arguments), err)
		}
		s.wanted = append(s.wanted, w)
	}
	return s, nil
}

// Pair is the name of a kind and of an object; an empty object name means all objects.
type Pair struct{ Kind, Name string }

// Pairs returns the objects that the arguments of q name, or the only name of all of them if Name is set.
func (q Query) Pairs() ([]Pair, error) {
	pairs, err := pairsOf(q.Arguments)
	if err != nil {
		return nil, cmp.Or(fileAmong(q.Arguments), err)
	}
	for i := range pairs {
		pairs[i].Name = cmp.Or(pairs[i].Name, q.Name)
	}
	return pairs, nil
}

// pairsOf reads arguments as kubectl does. Either all are TYPE/NAME, or the first is TYPE, or several separated by commas, and the others
// are names.
func pairsOf(arguments []string) ([]Pair, error) {
	if len(arguments) == 0 {
		return nil, nil
	}
	var out []Pair
	if strings.Contains(arguments[0], "/") {
		for _, a := range arguments {
			kind, name, _ := strings.Cut(a, "/")
			if kind == "" || name == "" || strings.Contains(name, "/") {
				return nil, fmt.Errorf("%q is no object: write TYPE/NAME, such as deployment/web; files are named with flags, such as -f", a)
			}
			out = append(out, Pair{kind, name})
		}
		return out, nil
	}
	names := arguments[1:]
	if len(names) == 0 {
		names = []string{""}
	}
	for kind := range strings.SplitSeq(arguments[0], ",") {
		for _, name := range names {
			if strings.Contains(name, "/") {
				return nil, errors.New("name objects either as TYPE/NAME, each, or as TYPE and then names")
			}
			out = append(out, Pair{kind, name})
		}
	}
	return out, nil
}

// wants reports whether s selects the object v.
func (s *Selection) wants(v value.Value) bool {
	metadata := v.Get("metadata")
	gvk := schema.ParseGVK(v.Get("apiVersion").Str(), v.Get("kind").Str())
	q := s.query
	if q.Name != "" && metadata.Get("name").Str() != q.Name {
		return false
	}
	if namespace := metadata.Get("namespace").Str(); q.Namespace != "" && namespace != "" && namespace != q.Namespace {
		return false
	}
	if len(s.wanted) > 0 && !slices.ContainsFunc(s.wanted, func(w wanted) bool { return w.has(gvk, metadata.Get("name").Str()) }) {
		return false
	}
	ok, err := matches(q.Labels, metadata.Get("labels"))
	return ok && err == nil
}

func (w wanted) has(gvk schema.GVK, name string) bool {
	return (w.name == "" || w.name == name) && (w.version == "" || w.version == gvk.Version) &&
		slices.Contains(w.kinds, groupKind{gvk.Group, gvk.Kind})
}

// matches reports whether labels match selector, in the syntax of Kubernetes. An empty selector matches everything. The error is about the
// syntax.
func matches(selector string, labels value.Value) (bool, error) {
	if selector == "" {
		return true, nil
	}
	texts := map[string]string{}
	for name, v := range labels.Members() {
		if v.Kind() == value.KindString {
			texts[name] = v.Str()
		}
	}
	node := yaml.NewMapRNode(nil)
	if err := node.SetLabels(texts); err != nil {
		return false, err
	}
	return node.MatchesLabelSelector(selector)
}

// None returns the error that s selects no object of live. It suggests a similar name.
func (s *Selection) None(live *manifest.Live) error {
	text := "no object in the input is " + s.query.String()
	if s.query.Labels != "" && len(s.query.Arguments) == 0 {
		text = "no object in the input matches " + s.query.String()
	}
	if err := fileAmong(s.query.Arguments); err != nil {
		return err
	}
	for _, w := range s.wanted {
		var there []string
		for o := range live.All() {
			if slices.Contains(w.kinds, groupKind{o.Group, o.Kind}) {
				there = append(there, o.Name)
			}
		}
		if meant := wording.Nearest(w.name, there); w.name != "" && meant != "" && !slices.Contains(there, w.name) {
			return fmt.Errorf("%s; did you mean %q?", text, meant)
		}
	}
	return errors.New(text)
}

// NoInput returns err, an error about missing input, unless an argument is a file, which was probably meant as input. Then it returns that
// error.
func (q Query) NoInput(err error) error { return cmp.Or(fileAmong(q.Arguments), err) }
