package webhook

import (
	"fmt"
	"slices"
	"strings"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
)

// unasked lists the virtual resources that are never sent to hooks. Hook configurations are exempt as well; see exempt.
var unasked = []kschema.GroupResource{
	{Group: "authentication.k8s.io", Resource: "selfsubjectreviews"},
	{Group: "authentication.k8s.io", Resource: "tokenreviews"},
	{Group: "authorization.k8s.io", Resource: "localsubjectaccessreviews"},
	{Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"},
	{Group: "authorization.k8s.io", Resource: "selfsubjectrulesreviews"},
	{Group: "authorization.k8s.io", Resource: "subjectaccessreviews"},
}

// fixedSuffix is the reserved suffix of configuration names that are read from files.
const fixedSuffix = ".static.k8s.io"

// unaskedSince is the minor release of Kubernetes that told of rules without effect first.
const unaskedSince = 37

// Advice returns the warnings of a minor release of Kubernetes for a valid configuration: a reserved name, and rules that have no effect.
func Advice(configuration value.Value, minor int) []string {
	var out []string
	if strings.HasSuffix(configuration.Get("metadata", "name").Str(), fixedSuffix) {
		out = append(out, fmt.Sprintf("metadata.name: names ending with %q are reserved for static manifest-based configurations and "+
			"cannot be managed via the API", fixedSuffix))
	}
	hooks, err := webhooksOf(configuration)
	if err != nil || minor < unaskedSince {
		return out
	}
	for i, h := range hooks {
		for j, r := range h.Rules {
			path := field.NewPath("webhooks").Index(i).Child("rules").Index(j)
			for _, resource := range unaskedOf(r.APIGroups, r.Resources) {
				out = append(out, fmt.Sprintf("%s: %s is excluded from admission webhooks; this rule will have no effect", path, resource))
			}
		}
	}
	return out
}

// unaskedOf returns the resources that a rule names although they are never sent to hooks.
//
// A rule with a star names no resource in particular, and gets no warning.
func unaskedOf(groups, resources []string) []kschema.GroupResource {
	if slices.Contains(groups, "*") || slices.Contains(resources, "*") {
		return nil
	}
	var out []kschema.GroupResource
	for _, group := range groups {
		for _, resource := range resources {
			named := kschema.GroupResource{Group: group, Resource: resource}
			if slices.Contains(unasked, named) && !slices.Contains(out, named) {
				out = append(out, named)
			}
		}
	}
	return out
}
