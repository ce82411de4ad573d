package gitops

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/kube"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// Rules about fields that do not count, in the form of two GitOps tools, and the removal of these fields from objects.

// IgnoreDifferences is an entry of ignoreDifferences in an Application of Argo CD. Group and Kind are patterns with the wildcards *, ?,
// [a-z] and {a,b}. An empty Name or Namespace matches every object.
type IgnoreDifferences struct {
	Group, Kind, Name, Namespace string
	// JSONPointers name fields in the form of RFC 6901. A pointer to a missing field has no effect.
	JSONPointers []string
	// JQPathExpressions name fields in a subset of jq:
	//
	//	.spec.replicas  ."a.b"  .a["b"]  .[0]  .[-1]  .[]  each may end with ?, so that a value of the wrong kind is no error
	//	a, b            the fields of both
	//	a | b           the fields of b in those of a; a comma binds closer
	//	select(a)       the value itself if a is true; a compares with == and !=, has the functions startswith, endswith,
	//	                contains and test with a text, and joins conditions by and, or and not
	//
	// Any other expression is an error of [NewRules]. An expression that fails on an object, as .a[] if a is missing, removes nothing.
	JQPathExpressions []string
	// ManagedFieldsManagers are managers whose fields do not count if the apply would change their values.
	ManagedFieldsManagers []string
}

// IgnoreRule is a rule of Flux's drift detection. Paths are JSON pointers; the empty one excludes the whole object. A nil Selector
// selects every object.
type IgnoreRule struct {
	Paths    []string
	Selector *Selector
}

// Selector selects the objects of an [IgnoreRule]. The first five fields are regular expressions that match a whole name. The last two
// are label selectors. An empty field selects everything.
type Selector struct {
	Group, Version, Kind, Name, Namespace string
	AnnotationSelector, LabelSelector     string
}

// Rules are compiled rules. They are immutable and safe for concurrent use. The nil Rules select nothing.
type Rules struct{ rules []rule }

// rule removes fields of the objects that it selects.
type rule struct {
	selects  func(identity) bool
	removals []removal // in the order of the tools: each starts from the result of the one before
	managers []string
	whole    bool
}

// removal returns an object without some fields.
type removal func(value.Value) value.Value

// NewRules compiles the rules of both tools into one set. The error joins the defects of all rules.
func NewRules(argo []IgnoreDifferences, flux []IgnoreRule) (*Rules, error) {
	out := &Rules{}
	var problems []error
	for i, d := range argo {
		r, err := d.compile()
		if err != nil {
			problems = append(problems, fmt.Errorf("ignoreDifferences[%d]: %w", i, err))
		}
		out.rules = append(out.rules, r)
	}
	for i, f := range flux {
		r, err := f.compile()
		if err != nil {
			problems = append(problems, fmt.Errorf("rule %d: %w", i, err))
		}
		out.rules = append(out.rules, r)
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return out, nil
}

// Without returns object without the fields that pointers and expressions of the rules name. object is in a form that [kube.ObjectOf]
// reads. A tool that leaves these fields to other managers applies the result. The error is that of ObjectOf.
func (rs *Rules) Without(object any) (managedfields.Object, error) {
	o, err := kube.ObjectOf(object)
	if err != nil {
		return o, err
	}
	return managedfields.Object{Content: rs.of(o.Content, o.Content).without(o.Content), Entries: o.Entries}, nil
}

// identity holds the properties of an object that selectors match.
type identity struct {
	group, version, kind, name, namespace string
	labels, annotations                   labels.Set
}

// identityOf returns the identity of object. If object has no namespace, the identity has that of live.
func identityOf(live, object value.Value) identity {
	gvk := schema.ParseGVK(object.Get("apiVersion").Str(), object.Get("kind").Str())
	id := identity{
		group: gvk.Group, version: gvk.Version, kind: gvk.Kind, name: object.Get("metadata", "name").Str(),
		namespace: object.Get("metadata", "namespace").Str(), labels: labels.Set{}, annotations: labels.Set{},
	}
	if id.namespace == "" {
		id.namespace = live.Get("metadata", "namespace").Str()
	}
	for name, v := range object.Get("metadata", "labels").Members() {
		id.labels[name] = v.Str()
	}
	for name, v := range object.Get("metadata", "annotations").Members() {
		id.annotations[name] = v.Str()
	}
	return id
}

func (d IgnoreDifferences) compile() (rule, error) {
	r := rule{managers: d.ManagedFieldsManagers}
	var problems []error
	group, err := glob(d.Group)
	problems = append(problems, err)
	kind, err := glob(d.Kind)
	problems = append(problems, err)
	for _, text := range d.JSONPointers {
		tokens, err := pointer(text)
		problems = append(problems, err)
		r.removals = append(r.removals, tokens.without)
	}
	for _, text := range d.JQPathExpressions {
		q, err := parseQuery(text)
		problems = append(problems, err)
		r.removals = append(r.removals, q.without)
	}
	r.selects = func(id identity) bool {
		return group.MatchString(id.group) && kind.MatchString(id.kind) &&
			(d.Name == "" || d.Name == id.name) && (d.Namespace == "" || d.Namespace == id.namespace)
	}
	return r, errors.Join(problems...)
}

// glob compiles a pattern with wildcards.
func glob(pattern string) (*regexp.Regexp, error) {
	var b strings.Builder
	depth := 0
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '*':
			b.WriteString(".*")
		case c == '?':
			b.WriteString(".")
		case c == '[':
			class, n, err := globClass(pattern[i:])
			if err != nil {
				return nil, fmt.Errorf("%q is no pattern: %w", pattern, err)
			}
			b.WriteString(class)
			i += n - 1
		case c == '{':
			b.WriteString("(?:")
			depth++
		case c == '}' && depth > 0:
			b.WriteString(")")
			depth--
		case c == ',' && depth > 0:
			b.WriteString("|")
		case c == '\\':
			if i++; i < len(pattern) {
				b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
			}
		default:
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	if depth > 0 {
		return nil, fmt.Errorf("%q is no pattern: a brace is not closed", pattern)
	}
	re, err := regexp.Compile("^(?s:" + b.String() + ")$")
	if err != nil {
		return nil, fmt.Errorf("%q is no pattern: %w", pattern, err)
	}
	return re, nil
}

// globClass returns the regular expression of the class at the start of pattern, and the length of the class. A class is one range or a
// list of characters, which have no meaning of their own:
//
//	[a-z]  [!a-z]  [abc]  [!abc]  [*?\]]
func globClass(pattern string) (class string, length int, err error) {
	rest, isNegated := strings.CutPrefix(pattern[1:], "!")
	characters := ""
	first, size := utf8.DecodeRuneInString(rest)
	if after, isRange := strings.CutPrefix(rest[size:], "-"); isRange {
		last, size := utf8.DecodeRuneInString(after)
		if rest = after[size:]; last < first || !strings.HasPrefix(rest, "]") {
			return "", 0, errors.New("a range in brackets is not like [a-z]")
		}
		characters = fmt.Sprintf(`\x{%x}-\x{%x}`, first, last)
	} else {
		isEscaped := false
		for rest != "" && (isEscaped || rest[0] != ']') {
			c, size := utf8.DecodeRuneInString(rest)
			if rest = rest[size:]; c == '\\' && !isEscaped {
				isEscaped = true
				continue
			}
			characters += fmt.Sprintf(`\x{%x}`, c)
			isEscaped = false
		}
	}
	switch {
	case rest == "":
		return "", 0, errors.New("a bracket is not closed")
	case characters == "":
		return "", 0, errors.New("brackets have nothing in them")
	case isNegated:
		characters = "^" + characters
	}
	return "[" + characters + "]", len(pattern) - len(rest) + 1, nil
}

func (f IgnoreRule) compile() (rule, error) {
	r := rule{selects: func(identity) bool { return true }}
	var problems []error
	for _, text := range f.Paths {
		if text == "" {
			r.whole = true
			continue
		}
		tokens, err := pointer(text)
		problems = append(problems, err)
		r.removals = append(r.removals, tokens.without)
	}
	if f.Selector != nil {
		var err error
		r.selects, err = f.Selector.compile()
		problems = append(problems, err)
	}
	return r, errors.Join(problems...)
}

func (s *Selector) compile() (func(identity) bool, error) {
	var problems []error
	matching := func(name, text string) func(string) bool {
		if text == "" {
			return func(string) bool { return true }
		}
		re, err := regexp.Compile("^(?:" + text + ")$")
		if err != nil {
			problems = append(problems, fmt.Errorf("selector: %s: %w", name, err))
			return nil
		}
		return re.MatchString
	}
	selecting := func(name, text string) labels.Selector {
		selector, err := labels.Parse(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("selector: %s: %w", name, err))
		}
		return selector
	}
	group, version, kind := matching("group", s.Group), matching("version", s.Version), matching("kind", s.Kind)
	name, namespace := matching("name", s.Name), matching("namespace", s.Namespace)
	byLabel, byAnnotation := selecting("labelSelector", s.LabelSelector), selecting("annotationSelector", s.AnnotationSelector)
	return func(id identity) bool {
		return group(id.group) && version(id.version) && kind(id.kind) && name(id.name) && namespace(id.namespace) &&
			byLabel.Matches(id.labels) && byAnnotation.Matches(id.annotations)
	}, errors.Join(problems...)
}

// tokens are the parts of a JSON pointer.
type tokens []string

// pointer returns the tokens of a JSON pointer.
func pointer(text string) (tokens, error) {
	if !strings.HasPrefix(text, "/") {
		return nil, fmt.Errorf("%q is no JSON pointer: it must begin with a slash", text)
	}
	tokens := strings.Split(text[1:], "/")
	for i, token := range tokens {
		tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
	}
	return tokens, nil
}

// of returns the union of the rules for an object. live supplies the namespace.
func (rs *Rules) of(live, object value.Value) rule {
	var out rule
	if rs == nil || len(rs.rules) == 0 {
		return out
	}
	id := identityOf(live, object)
	for _, r := range rs.rules {
		if r.selects(id) {
			out.removals = append(out.removals, r.removals...)
			out.managers = append(out.managers, r.managers...)
			out.whole = out.whole || r.whole
		}
	}
	return out
}

// empty reports whether r removes nothing.
func (r rule) empty() bool {
	return len(r.removals) == 0 && len(r.managers) == 0
}

// ignore moves the changes that rules remove from Changes to Ignored. entries are those of the live object. The fields of managers are
// removed first, as Argo CD does: the other removals may take the keys of items.
func (r *Result) ignore(rules rule, entries []managedfields.Entry) {
	before, after := withoutManaged(rules.managers, entries, r.kind, r.Live, r.Object.Content)
	before, after = rules.without(before), rules.without(after)
	all := r.Changes
	r.Changes = r.changes(tidied(before, r.Live, after), tidied(after, r.Object.Content, before))
	left := map[string][]Change{}
	for _, c := range r.Changes {
		left[c.Path.String()] = append(left[c.Path.String()], c)
	}
	for _, c := range all {
		if !slices.ContainsFunc(left[c.Path.String()], func(l Change) bool { return l.Before.Equal(c.Before) && l.After.Equal(c.After) }) {
			r.Ignored = append(r.Ignored, c)
		}
	}
}

// without returns object without the fields that the removals of r name.
func (r rule) without(object value.Value) value.Value {
	for _, remove := range r.removals {
		object = remove(object)
	}
	return object
}

// without returns object without the value at the pointer.
func (t tokens) without(object value.Value) value.Value { return removed(object, t) }

// without returns object without the values that q selects. It returns object itself if q fails.
func (q query) without(object value.Value) value.Value {
	found, err := q.paths(object)
	if err != nil {
		return object
	}
	left, err := removedAll(object, found)
	if err != nil {
		return object
	}
	return left
}

// removed returns v without the value at a JSON pointer, and v itself if there is none. A negative number counts items from the end.
func removed(v value.Value, tokens []string) value.Value {
	switch v.Kind() {
	case value.KindObject:
		member := v.Get(tokens[0])
		if member.IsAbsent() {
			return v
		}
		if len(tokens) == 1 {
			return v.With(tokens[0], value.Value{})
		}
		if left := removed(member, tokens[1:]); !left.Same(member) {
			return v.With(tokens[0], left)
		}
	case value.KindList:
		i, err := strconv.Atoi(tokens[0])
		if i < 0 {
			i += v.Len()
		}
		if err != nil || i < 0 || i >= v.Len() {
			return v
		}
		items := slices.Collect(v.Items())
		if len(tokens) == 1 {
			return value.List(slices.Delete(items, i, i+1)...)
		}
		items[i] = removed(items[i], tokens[1:])
		return value.List(items...)
	}
	return v
}

// withoutManaged returns both states of an object of type t without the fields that differ and that managers own by entries. States that
// do not conform to t stay unchanged.
func withoutManaged(managers []string, entries []managedfields.Entry, t *schema.Type, before, after value.Value) (value.Value, value.Value) {
	var owned fieldpath.Set
	for _, e := range entries {
		if !slices.Contains(managers, e.Manager) {
			continue
		}
		if set, err := e.FieldsV1.Set(); err == nil { // the plan has read all entries
			owned = owned.Union(set)
		}
	}
	if owned.IsEmpty() {
		return before, after
	}
	was, err := typed.New(before, t, typed.AllowDuplicates)
	if err != nil {
		return before, after
	}
	is, err := typed.New(after, t, typed.AllowDuplicates)
	if err != nil {
		return before, after
	}
	diff, err := typed.Compare(was, is)
	if err != nil {
		return before, after
	}
	gone := owned.Intersect(diff.Modified)
	return was.Remove(gone).Content(), is.Remove(gone).Content()
}

// tidied returns v without containers that became empty since original and that other lacks. Otherwise the removal of a field in one
// state would show as a change of the container around it.
func tidied(v, original, other value.Value) value.Value {
	if v.Same(original) || v.Kind() != value.KindObject {
		return v
	}
	out := v
	for name, member := range v.Members() {
		was := original.Get(name)
		if member.Same(was) {
			continue
		}
		left := tidied(member, was, other.Get(name))
		if isNothing(left) && was.Len() > 0 && isNothing(other.Get(name)) {
			left = value.Value{}
		}
		if !left.Same(member) {
			out = out.With(name, left)
		}
	}
	return out
}

// isNothing reports whether v is absent, null or has nothing in it.
func isNothing(v value.Value) bool {
	switch v.Kind() {
	case value.KindAbsent, value.KindNull:
		return true
	case value.KindObject, value.KindList:
		return v.Len() == 0
	}
	return false
}
