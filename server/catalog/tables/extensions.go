package tables

import (
	"slices"
	"strings"

	"github.com/deed-project/deed/value"
)

var extensions = map[string][]cell{
	"mutatingwebhookconfigurations.admissionregistration.k8s.io":     {name, count("webhooks"), age},
	"validatingwebhookconfigurations.admissionregistration.k8s.io":   {name, count("webhooks"), age},
	"mutatingadmissionpolicies.admissionregistration.k8s.io":         {name, count("spec", "mutations"), shown(paramKind), age},
	"validatingadmissionpolicies.admissionregistration.k8s.io":       {name, count("spec", "validations"), shown(paramKind), age},
	"mutatingadmissionpolicybindings.admissionregistration.k8s.io":   policyBinding,
	"validatingadmissionpolicybindings.admissionregistration.k8s.io": policyBinding,
	"customresourcedefinitions.apiextensions.k8s.io": {
		name, text("spec", "scope"), shown(servedVersions), created, text("spec", "group"), text("spec", "names", "kind"),
		joined("", "spec", "names", "shortNames"), func(s source) value.Value { return value.Bool(hasCondition(s.Value, "Established")) },
	},
	"priorityclasses.scheduling.k8s.io": {
		name, number("value"), flag("globalDefault"), age, text("preemptionPolicy"),
	},
	"runtimeclasses.node.k8s.io":                       {name, text("handler"), age},
	"storageversionmigrations.storagemigration.k8s.io": {name, shown(migrated), shown(migration)},
}

var policyBinding = []cell{name, text("spec", "policyName"), shown(paramRef), age}

func paramKind(s source) string {
	kind := s.Get("spec", "paramKind")
	if kind.Kind() != value.KindObject {
		return unset
	}
	return kind.Get("apiVersion").Str() + "/" + kind.Get("kind").Str()
}

// paramRef shows which parameters a binding names: by name, or by a selector.
func paramRef(s source) string {
	ref := s.Get("spec", "paramRef")
	if name := ref.Get("name").Str(); name != "" {
		return orElse(ref.Get("namespace").Str(), "*") + "/" + name
	}
	if selector := labelSelector(ref.Get("selector")); selector != nil {
		return selector.String()
	}
	return unset
}

// servedVersions shows the versions of a definition that are served, and which of them is stored.
func servedVersions(s source) string {
	var out []string
	for v := range s.Get("spec", "versions").Items() {
		if !v.Get("served").Bool() {
			continue
		}
		label := v.Get("name").Str()
		if v.Get("storage").Bool() {
			label += "(storage)"
		}
		out = append(out, label)
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}

// migrated shows which resource is written anew.
func migrated(s source) string {
	resource := s.Get("spec", "resource")
	if group := resource.Get("group").Str(); group != "" {
		return resource.Get("resource").Str() + "." + group
	}
	return resource.Get("resource").Str()
}

// migration shows the last condition of a migration that is true.
func migration(s source) string {
	status := "Unknown"
	for c := range s.Get("status", "conditions").Items() {
		typ := c.Get("type").Str()
		if c.Get("status").Str() == "True" && (typ == "Running" || typ == "Failed" || typ == "Succeeded") {
			status = typ
		}
	}
	return status
}
