package dryrun

import (
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/selector"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/value"
)

// Rules decides conflicts for whole repositories. A nil *Rules decides none.
type Rules struct {
	rules []*rule
	seen  seen
}

// rule applies to the objects and owners that its patterns match. An empty pattern matches everything.
type rule struct {
	kind, name, namespace string
	managers              []*rulePattern
	force, ignore         []*ruleField
	at                    notice.Position
	used                  atomic.Bool // whether it matched an object
}

// rulePattern is a pattern of managers, and ruleField a selector of fields. Both have a position, and record whether they have matched
// anything yet.
type rulePattern struct {
	text string
	at   notice.Position
	used atomic.Bool
}

type ruleField struct {
	selector.Selector
	at   notice.Position
	used atomic.Bool
}

// ReadRules reads a file with rules:
//
//	rules:
//	- kind: Deployment         # patterns such as web-*
//	  name: "*"
//	  namespace: prod
//	  managers: [hpa]          # the owners of the field
//	  force: [.spec.template]  # paths to take from them
//	  ignore: [.spec.replicas] # paths to leave to them: removed from the configuration if in conflict
//
// It reports defects of the file, and returns nil then.
func ReadRules(c *manifest.Loader, name string) *Rules {
	before := c.Problems
	out := &Rules{}
	for _, t := range c.Read([]string{name}, false) {
		docs, err := yaml.Parse(t.Name, t.Data)
		if err != nil {
			c.ParseProblem(err)
		}
		for _, doc := range docs {
			r := rulesReader{Loader: c, Origin: manifest.Origin{File: t.Name, Doc: doc}}
			r.members(doc.Value, nil, map[string]func(value.Value, []any){"rules": func(v value.Value, at []any) {
				r.items(v, at, func(v value.Value, at []any) { out.rules = append(out.rules, r.rule(v, at)) })
			}})
		}
	}
	if c.Problems == before && len(out.rules) == 0 {
		c.Problem(manifest.Origin{File: name}.At(), "there are no rules in this file")
	}
	if c.Problems != before {
		return nil
	}
	return out
}

// rulesReader reads one file with rules.
type rulesReader struct {
	*manifest.Loader
	manifest.Origin
}

// members calls the function in read for each member of the object v, and reports members without a function.
func (r rulesReader) members(v value.Value, at []any, read map[string]func(value.Value, []any)) {
	if v.Kind() != value.KindObject {
		r.Problem(r.At(at...), "expected an object, but this is %v", secret.Public(v))
		return
	}
	for name, member := range v.Members() {
		if read[name] != nil {
			read[name](member, append(slices.Clip(at), name))
			continue
		}
		var names []string
		for known := range read {
			names = append(names, known)
		}
		slices.Sort(names)
		r.Problem(r.Key(append(slices.Clip(at), name)...), "unknown key %q; there are %s", name, strings.Join(names, ", "))
	}
}

// items calls read for each item of the list v.
func (r rulesReader) items(v value.Value, at []any, read func(value.Value, []any)) {
	if v.Kind() != value.KindList {
		r.Problem(r.At(at...), "expected a list, but this is %v", secret.Public(v))
		return
	}
	for i := range v.Len() {
		read(v.Item(i), append(slices.Clip(at), i))
	}
}

func (r rulesReader) rule(v value.Value, at []any) *rule {
	out := &rule{at: r.At(at...)}
	pattern := func(into *string) func(value.Value, []any) {
		return func(v value.Value, at []any) { *into = r.pattern(v, at) }
	}
	fields := func(into *[]*ruleField) func(value.Value, []any) {
		return func(v value.Value, at []any) {
			r.items(v, at, func(v value.Value, at []any) {
				s, err := selector.Parse(v.Str())
				if err != nil {
					r.Problem(r.At(at...), "%s", secret.Open.Error(err))
				}
				*into = append(*into, &ruleField{Selector: s, at: r.At(at...)})
			})
		}
	}
	r.members(v, at, map[string]func(value.Value, []any){
		"kind": pattern(&out.kind), "name": pattern(&out.name), "namespace": pattern(&out.namespace),
		"force": fields(&out.force), "ignore": fields(&out.ignore),
		"managers": func(v value.Value, at []any) {
			r.items(v, at, func(v value.Value, at []any) {
				out.managers = append(out.managers, &rulePattern{text: r.pattern(v, at), at: r.At(at...)})
			})
		},
	})
	if len(out.force)+len(out.ignore) == 0 {
		r.Problem(r.At(at...), "a rule needs force or ignore, a list of paths")
	}
	return out
}

// pattern reads a pattern of names.
func (r rulesReader) pattern(v value.Value, at []any) string {
	if _, err := path.Match(v.Str(), ""); err != nil || v.Str() == "" {
		r.Problem(r.At(at...), "expected a pattern such as web-*, but this is %v", secret.Public(v))
	}
	return v.Str()
}

// matches reports whether pattern is empty or matches name.
func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return pattern == "" || err == nil && ok
}

// about reports whether the rule applies to o.
func (r *rule) about(o *manifest.Object) bool {
	return matches(r.kind, o.Id.Kind) && matches(r.name, o.Id.Name) && matches(r.namespace, o.Id.Namespace)
}

// aboutOwner reports whether the rule applies to conflicts with owner.
func (r *rule) aboutOwner(owner merge.Manager) bool {
	return len(r.managers) == 0 || slices.ContainsFunc(r.managers, func(m *rulePattern) bool { return matches(m.text, owner.Name) })
}

// takes reports for each conflict of o whether a rule decides it for the applier.
func (r *Rules) takes(o *manifest.Object, conflicts merge.Conflicts) []bool {
	return r.any(o, conflicts, func(r *rule) []*ruleField { return r.force })
}

// any reports for each conflict of o whether a rule for o and the owner selects its field by one of fields. A path that matches several
// fields selects all of them.
func (r *Rules) any(o *manifest.Object, conflicts merge.Conflicts, fields func(*rule) []*ruleField) []bool {
	out := make([]bool, len(conflicts))
	if r == nil {
		return out
	}
	paths := pathsOf(conflicts)
	for _, r := range r.rules {
		if !r.about(o) {
			continue
		}
		for _, f := range fields(r) {
			found, _ := f.Among(paths)
			for i, path := range found {
				if path != nil && r.aboutOwner(conflicts[i].Owner.Manager) {
					f.used.Store(true)
					out[i] = true
				}
			}
		}
	}
	return out
}

// left returns the conflicts of o over fields that the rules leave to their owners.
func (r *Rules) left(o *manifest.Object, conflicts merge.Conflicts) merge.Conflicts {
	var out merge.Conflicts
	for i, isLeft := range r.any(o, conflicts, func(r *rule) []*ruleField { return r.ignore }) {
		if isLeft {
			out = append(out, conflicts[i])
		}
	}
	return out
}
