package auth

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
)

// publicPaths are the paths that every client may read.
var publicPaths = []string{"/healthz", "/livez", "/readyz", "/version"}

// DenyAnonymous allows everything to authenticated users. Others may only read health checks and the version. It is an [Authorizer].
//
// A resource has no path, so anonymous users may read none.
func DenyAnonymous(_ context.Context, u User, a Action) (bool, string) {
	if !slices.Contains(u.Groups, "system:unauthenticated") {
		return true, ""
	}
	return isPublic(a.Path) && a.Verb == "get", ""
}

// Allow allows everything. It is an [Authorizer], for a server that has roles and does not go by them.
func Allow(context.Context, User, Action) (bool, string) { return true, "" }

// Deny allows nothing. It is an [Authorizer].
func Deny(context.Context, User, Action) (bool, string) {
	return false, "alwaysdeny: Everything is forbidden."
}

// Policy is a list of rules that allow actions. An action that no rule allows is forbidden.
//
// It is immutable once it is read. Rules are looked at one by one, so the cost of an authorization is their number.
type Policy struct{ rules []rule }

// rule allows an action to a user or to the members of a group. A star matches every value.
type rule struct{ user, verb, resource, namespace string }

// ReadPolicy reads a policy. Each line has a user, a verb, a resource and a namespace, separated by blanks:
//
//	user       a name, group:NAME for the members of a group, or *
//	verb       a verb, or *
//	resource   PLURAL, PLURAL.GROUP, PLURAL/SUBRESOURCE, a path that begins with a slash, or *
//	namespace  a name, - for cluster-scoped resources and for paths, or *
//
// Lines that begin with # are comments. An error has the number of the line.
func ReadPolicy(r io.Reader) (*Policy, error) {
	p := &Policy{}
	lines := bufio.NewScanner(r)
	for number := 1; lines.Scan(); number++ {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) != 4 {
			return nil, fmt.Errorf("line %d: want user, verb, resource and namespace, got %q", number, lines.Text())
		}
		p.rules = append(p.rules, rule{words[0], words[1], words[2], words[3]})
	}
	return p, lines.Err()
}

// AllowsAnonymous returns the first rule that allows a verb on every resource to requests without credentials. The rule is spelled as it
// was read; the result is "" if there is none.
//
// Such a rule is probably a mistake, which a caller can warn of. Rules with a namespace or a resource are not reported.
func (p *Policy) AllowsAnonymous() string {
	for _, r := range p.rules {
		everybody := r.user == "*" || r.user == Anonymous.Name || r.user == "group:"+Anonymous.Groups[0]
		if everybody && r.resource == "*" && r.namespace == "*" {
			return strings.Join([]string{r.user, r.verb, r.resource, r.namespace}, " ")
		}
	}
	return ""
}

// Authorize reports whether a rule allows the action. It is an [Authorizer].
func (p *Policy) Authorize(_ context.Context, u User, a Action) (bool, string) {
	return slices.ContainsFunc(p.rules, func(r rule) bool { return r.allows(u, a) }), ""
}

// allows reports whether r allows an action to a user.
func (r rule) allows(u User, a Action) bool {
	group, ofGroup := strings.CutPrefix(r.user, "group:")
	who := r.user == "*" || r.user == u.Name || ofGroup && slices.Contains(u.Groups, group)
	if !who || r.verb != "*" && r.verb != a.Verb {
		return false
	}
	named, namespace := a.resource(), a.Namespace
	if a.IsPath() {
		named = a.Path
	}
	if namespace == "" {
		namespace = "-"
	}
	return (r.resource == "*" || r.resource == named) && (r.namespace == "*" || r.namespace == namespace)
}

// resource returns the resource of an action, spelled as in rules.
func (a Action) resource() string {
	out := a.Resource
	if a.Group != "" {
		out += "." + a.Group
	}
	if a.Subresource != "" {
		out += "/" + a.Subresource
	}
	return out
}
