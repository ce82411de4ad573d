package tables

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/deed-project/deed/value"
)

var access = map[string][]cell{
	"roles.rbac.authorization.k8s.io":               {name, created},
	"clusterroles.rbac.authorization.k8s.io":        {name, created},
	"rolebindings.rbac.authorization.k8s.io":        binding,
	"clusterrolebindings.rbac.authorization.k8s.io": binding,
	"certificatesigningrequests.certificates.k8s.io": {
		name, age, textOr(none, "spec", "signerName"), text("spec", "username"), shown(requestedDuration), shown(signingStatus),
	},
	"clustertrustbundles.certificates.k8s.io": {name, textOr(none, "spec", "signerName")},
	"podcertificaterequests.certificates.k8s.io": {
		name, text("spec", "podName"), text("spec", "serviceAccountName"), text("spec", "nodeName"), text("spec", "signerName"),
		shown(certificateState), labelsOf("spec", "unverifiedUserAnnotations"),
	},
	"flowschemas.flowcontrol.apiserver.k8s.io": {
		name, text("spec", "priorityLevelConfiguration", "name"), number("spec", "matchingPrecedence"),
		textOr(none, "spec", "distinguisherMethod", "type"), age, shown(dangling),
	},
	"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": {
		name, text("spec", "type"), limited("nominalConcurrencyShares"), limited("limitResponse", "queuing", "queues"),
		limited("limitResponse", "queuing", "handSize"), limited("limitResponse", "queuing", "queueLengthLimit"), age,
	},
}

// binding are the cells of bindings of roles.
var binding = []cell{name, shown(role), age, subjects("User"), subjects("Group"), subjects("ServiceAccount")}

func role(s source) string {
	return s.Get("roleRef", "kind").Str() + "/" + s.Get("roleRef", "name").Str()
}

// subjects shows the subjects of a kind.
func subjects(kind string) cell {
	return shown(func(s source) string {
		var out []string
		for subject := range s.Get("subjects").Items() {
			name := subject.Get("name").Str()
			switch {
			case subject.Get("kind").Str() != kind:
				continue
			case kind == "ServiceAccount":
				name = subject.Get("namespace").Str() + "/" + name
			}
			out = append(out, name)
		}
		return strings.Join(out, ", ")
	})
}

func requestedDuration(s source) string {
	if seconds := s.Get("spec", "expirationSeconds"); seconds.Kind() == value.KindInt {
		return duration.HumanDuration(time.Duration(seconds.Int()) * time.Second)
	}
	return none
}

// signingStatus shows what became of a request for a certificate.
func signingStatus(s source) string {
	has := conditionTypes(s)
	status := "Pending"
	switch {
	case has["Denied"]:
		status = "Denied"
	case has["Approved"]:
		status = "Approved"
	}
	if has["Failed"] {
		status += ",Failed"
	}
	if s.Get("status", "certificate").Str() != "" {
		status += ",Issued"
	}
	return status
}

// conditionTypes returns the types of the conditions that an object has, whatever these say.
func conditionTypes(s source) map[string]bool {
	out := map[string]bool{}
	for c := range s.Get("status", "conditions").Items() {
		out[c.Get("type").Str()] = true
	}
	return out
}

// certificateState shows the last condition that ends a request of a pod.
func certificateState(s source) string {
	state := "Pending"
	for c := range s.Get("status", "conditions").Items() {
		if typ := c.Get("type").Str(); typ == "Issued" || typ == "Denied" || typ == "Failed" {
			state = typ
		}
	}
	return state
}

// dangling shows whether the priority level of a flow schema is missing.
func dangling(s source) string {
	for c := range s.Get("status", "conditions").Items() {
		if c.Get("type").Str() == "Dangling" {
			return c.Get("status").Str()
		}
	}
	return "?"
}

// limited shows a number of a priority level, which levels without limits do not have.
func limited(path ...string) cell {
	return func(s source) value.Value {
		holder := s.Get("spec", "limited").Get(path[:len(path)-1]...)
		if holder.Kind() != value.KindObject {
			return value.String(none)
		}
		return value.Int(holder.Get(path[len(path)-1]).Int())
	}
}
