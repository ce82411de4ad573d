package flowcontrol

import (
	"slices"
	"strings"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/request"
)

// call is a request as the rules of FlowSchemas see it.
type call struct {
	user     auth.User
	verb     string
	path     string
	info     *request.Info
	resource string // with the subresource
}

func newCall(u auth.User, i *request.Info) call {
	c := call{user: u, verb: i.Verb, path: i.Path, info: i, resource: i.Target.Resource}
	switch {
	case !i.IsResource:
		c.verb = strings.ToLower(i.Method)
	case i.Target.Subresource != "":
		c.resource += "/" + i.Target.Subresource
	}
	return c
}

// matches reports whether one of the rules of a FlowSchema has both the user and what the request does.
func (c *call) matches(rules []flowcontrolv1.PolicyRulesWithSubjects) bool {
	for i := range rules {
		if r := &rules[i]; c.isFromOne(r.Subjects) && (c.isForResource(r.ResourceRules) || c.isForPath(r.NonResourceRules)) {
			return true
		}
	}
	return false
}

// isFromOne reports whether one of some subjects is the user.
func (c *call) isFromOne(subjects []flowcontrolv1.Subject) bool {
	for i := range subjects {
		if c.isFrom(&subjects[i]) {
			return true
		}
	}
	return false
}

// serviceAccount is how the name of a user begins that is a service account. Its namespace and its name follow.
const serviceAccount = "system:serviceaccount:"

// isFrom reports whether a subject is the user.
func (c *call) isFrom(s *flowcontrolv1.Subject) bool {
	switch {
	case s.Kind == flowcontrolv1.SubjectKindUser && s.User != nil:
		return s.User.Name == flowcontrolv1.NameAll || s.User.Name == c.user.Name
	case s.Kind == flowcontrolv1.SubjectKindGroup && s.Group != nil:
		return s.Group.Name == flowcontrolv1.NameAll || slices.Contains(c.user.Groups, s.Group.Name)
	case s.Kind == flowcontrolv1.SubjectKindServiceAccount && s.ServiceAccount != nil:
		account, is := strings.CutPrefix(c.user.Name, serviceAccount)
		namespace, name, _ := strings.Cut(account, ":")
		return is && namespace == s.ServiceAccount.Namespace && (s.ServiceAccount.Name == flowcontrolv1.NameAll || s.ServiceAccount.Name == name)
	}
	return false
}

// isForResource reports whether one of some rules has the resource. A request without a namespace needs a rule for the cluster's scope.
func (c *call) isForResource(rules []flowcontrolv1.ResourcePolicyRule) bool {
	if !c.info.IsResource {
		return false
	}
	t := &c.info.Target
	for i := range rules {
		r := &rules[i]
		if has(r.Verbs, c.verb) && has(r.Resources, c.resource) && has(r.APIGroups, t.Group) &&
			(t.Namespace == "" && r.ClusterScope || t.Namespace != "" && has(r.Namespaces, t.Namespace)) {
			return true
		}
	}
	return false
}

// isForPath reports whether one of some rules has the path. A path in a rule stands for everything below, too, with or without a star.
func (c *call) isForPath(rules []flowcontrolv1.NonResourcePolicyRule) bool {
	if c.info.IsResource {
		return false
	}
	for i := range rules {
		if !has(rules[i].Verbs, c.verb) {
			continue
		}
		for _, of := range rules[i].NonResourceURLs {
			above := strings.TrimSuffix(strings.TrimSuffix(of, "*"), "/")
			rest, isBelow := strings.CutPrefix(c.path, above)
			if of == flowcontrolv1.NonResourceAll || of == c.path || isBelow && strings.HasPrefix(rest, "/") {
				return true
			}
		}
	}
	return false
}

// has reports whether a list has a text, or is the wildcard.
func has(list []string, text string) bool {
	return len(list) == 1 && list[0] == "*" || slices.Contains(list, text)
}
