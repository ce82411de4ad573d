package auth

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
)

// ABAC is the authorization mode ABAC of kube-apiserver: a list of policies, of which each allows actions by attributes of the user and of the
// request. It is immutable once it is read. Policies are looked at one by one, so the cost of an authorization is their number.
type ABAC struct{ policies []abacPolicy }

// abacPolicy allows a user and the members of a group what it describes. A star matches every value, and an empty user or group any.
type abacPolicy struct {
	User            string `json:"user"`
	Group           string `json:"group"`
	Readonly        bool   `json:"readonly"`
	APIGroup        string `json:"apiGroup"`
	Resource        string `json:"resource"`
	Namespace       string `json:"namespace"`
	NonResourcePath string `json:"nonResourcePath"`
}

// abacVersion is the version of the policies of a file. Policies without a version are of an older form.
const abacVersion = "abac.authorization.kubernetes.io/v1beta1"

// ReadABAC reads policies, one JSON object a line. Lines that begin with # are comments. An error has the number of the line.
func ReadABAC(r io.Reader) (*ABAC, error) {
	out := &ABAC{}
	lines := bufio.NewScanner(r)
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		p, err := readABACPolicy([]byte(line))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		out.policies = append(out.policies, p)
	}
	return out, lines.Err()
}

// readABACPolicy reads one policy, of either form.
func readABACPolicy(line []byte) (abacPolicy, error) {
	var p struct {
		APIVersion string     `json:"apiVersion"`
		Kind       string     `json:"kind"`
		Spec       abacPolicy `json:"spec"`
	}
	if err := json.Unmarshal(line, &p); err != nil {
		return p.Spec, err
	}
	switch {
	case p.APIVersion == abacVersion && p.Kind == "Policy":
		return p.Spec, nil
	case p.APIVersion == "" && p.Kind == "":
		var old abacPolicy
		err := json.Unmarshal(line, &old)
		return old.upgraded(), err
	}
	return p.Spec, fmt.Errorf("%s %s is no Policy of %s", p.APIVersion, p.Kind, abacVersion)
}

// upgraded returns a policy of the older form, which says nothing of API groups and paths. What it leaves out matches everything.
func (p abacPolicy) upgraded() abacPolicy {
	if p.User == "" && p.Group == "" || p.User == "*" || p.Group == "*" {
		p.User, p.Group = "", "system:authenticated"
	}
	p.NonResourcePath, p.APIGroup = "", "*"
	if p.Namespace == "" && p.Resource == "" {
		p.NonResourcePath = "*"
	}
	if p.Namespace == "" {
		p.Namespace = "*"
	}
	if p.Resource == "" {
		p.Resource = "*"
	}
	return p
}

// Authorize reports whether a policy allows the action. It is an [Authorizer].
func (l *ABAC) Authorize(_ context.Context, u User, a Action) (bool, string) {
	if slices.ContainsFunc(l.policies, func(p abacPolicy) bool { return p.isFor(u) && p.allows(a) }) {
		return true, ""
	}
	return false, "abac: No policy matched."
}

// AllowsAnonymous reports whether a policy lets requests without credentials read every resource. Such a policy is probably a mistake, which a
// caller can warn of.
func (l *ABAC) AllowsAnonymous() bool {
	everything := Action{Verb: "get", Group: "*", Resource: "*", Namespace: "*"} // which only stars match
	allowed, _ := l.Authorize(context.Background(), Anonymous, everything)
	return allowed
}

// isFor reports whether a policy is for a user. One that names neither a user nor a group is for none.
func (p abacPolicy) isFor(u User) bool {
	if p.User == "" && p.Group == "" {
		return false
	}
	return (p.User == "" || p.User == "*" || p.User == u.Name) && (p.Group == "" || p.Group == "*" || slices.Contains(u.Groups, p.Group))
}

// readVerbs are the verbs that a policy for reading allows.
var readVerbs = []string{"get", "list", "watch"}

// allows reports whether a policy describes an action.
func (p abacPolicy) allows(a Action) bool {
	if p.Readonly && !slices.Contains(readVerbs, a.Verb) {
		return false
	}
	if a.IsPath() {
		start, isPrefix := strings.CutSuffix(p.NonResourcePath, "*")
		return p.NonResourcePath == a.Path || isPrefix && strings.HasPrefix(a.Path, strings.TrimRight(start, "*"))
	}
	is := func(pattern, value string) bool { return pattern == "*" || pattern == value }
	return is(p.Namespace, a.Namespace) && is(p.Resource, a.Resource) && is(p.APIGroup, a.Group)
}

// Rules lists what the policies allow a user in a namespace. It is a [RuleResolver].
func (l *ABAC) Rules(_ context.Context, u User, namespace string) (out Rules) {
	for _, p := range l.policies {
		if !p.isFor(u) || p.Namespace != "*" && p.Namespace != namespace {
			continue
		}
		verbs := []string{"*"}
		if p.Readonly {
			verbs = readVerbs
		}
		if p.Resource != "" {
			out.Resources = append(out.Resources, authorizationv1.ResourceRule{Verbs: verbs, APIGroups: []string{p.APIGroup}, Resources: []string{p.Resource}})
		}
		if p.NonResourcePath != "" {
			out.Paths = append(out.Paths, authorizationv1.NonResourceRule{Verbs: verbs, NonResourceURLs: []string{p.NonResourcePath}})
		}
	}
	return out
}
