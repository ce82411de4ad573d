package pods

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// ValidateTemplate refuses what pods are made of.
//
// A template has no name, so the rules about the name of a pod do not apply.
func ValidateTemplate(r *walk.Report, p walk.Place) {
	metadata := p.Get("metadata") // whose members are told as if they were those of the template
	r.Labels(p.Below(metadata.Get("labels"), "labels", walk.IsMember))
	annotations, spec := p.Below(metadata.Get("annotations"), "annotations", walk.IsMember), p.At("spec")
	validateAnnotations(r, annotations)
	validateMeaning(r, annotations, spec.Value)
	validateSpec(r, spec, value.Value{})
	validateProfilesMatch(r, spec, annotations.Value)
	if later := spec.At("ephemeralContainers"); later.Len() > 0 {
		r.Forbidden(later, "ephemeral containers not allowed in pod template")
	}
}

// validateAnnotations refuses names of annotations, and too many.
func validateAnnotations(r *walk.Report, p walk.Place) {
	all := make(map[string]string, p.Len())
	for name, text := range p.Members() { // by name, where apimachinery has no order
		all[name] = text.Str()
		r.Errs = append(r.Errs, apivalidation.ValidateAnnotations(map[string]string{name: ""}, p.Path())...)
	}
	if apivalidation.ValidateAnnotationsSize(all) != nil {
		r.Add(field.TooLong(p.Path(), "", apivalidation.TotalAnnotationSizeLimitB))
	}
}

// ValidateWorkload refuses a selector and the template of the pods that it selects, for a kind that is called so.
//
//	selector  must be there, be valid, and select something
//	labels    of the template must be selected
//	template  must make pods that always restart
//
// A selector that is wrong ends the check with an error about all of it, because the labels cannot be compared with it. The pods of a
// StatefulSet must always restart even then.
func ValidateWorkload(r *walk.Report, spec walk.Place, kind string) {
	selector, before := spec.At("selector"), len(r.Errs)
	if !selector.IsSet() {
		r.Required(selector, "")
	} else {
		r.Selector(selector)
	}
	wrong := selector.IsSet() && len(r.Errs) > before
	if selector.IsSet() && !walk.Selects(selector.Value) {
		r.Invalid(selector, "empty selector is invalid for "+emptySelectors[kind])
	}
	template := spec.At("template")
	if wrong {
		r.Invalid(selector, invalidSelectors[kind])
		if kind == "StatefulSet" {
			ValidateRestartsAlways(r, template, kind)
		}
		return
	}
	ValidateLabelsSelected(r, template, selector.Value)
	template = withClaims(template, spec.Get("volumeClaimTemplates"))
	if of := template.Get("spec"); kind == "StatefulSet" && walk.IsSet(of) { // the controller sets both for each pod
		of = of.With("hostname", value.Value{}).With("subdomain", value.Value{})
		template = template.WithValue(template.With("spec", of))
	}
	ValidateTemplate(r, template)
	ValidateRestartsAlways(r, template, kind)
}

// ValidateLabelsSelected refuses labels of a template that the selector does not select: without a selector none are, with an empty one all.
func ValidateLabelsSelected(r *walk.Report, template walk.Place, selector value.Value) {
	metadata := template.At("metadata")
	labels := metadata.At("labels")
	if !walk.IsSet(selector) || walk.Selects(selector) && !walk.Selected(selector, labels.Value) {
		r.Invalid(labels, "`selector` does not match template `labels`")
	}
}

// ValidateRestartsAlways refuses pods that end.
func ValidateRestartsAlways(r *walk.Report, template walk.Place, kind string) {
	spec := template.At("spec")
	if policy := spec.At("restartPolicy"); policy.Str() != "Always" {
		r.OnlyAmong(policy, "Always")
	}
	if deadline := spec.At("activeDeadlineSeconds"); deadline.IsSet() {
		if kind == "Deployment" {
			kind = "ReplicaSet"
		}
		r.Forbidden(deadline, "activeDeadlineSeconds in "+kind+" is not Supported")
	}
}

// withClaims returns a template with the volumes that claims become: they come first, and take the place of volumes that are called so.
//
// So a container may mount a volume that only the StatefulSet's claims define. template is a copy.
func withClaims(template walk.Place, claims value.Value) walk.Place {
	if claims.Len() == 0 {
		return template
	}
	var met walk.Names
	var volumes []value.Value
	for c := range claims.Items() {
		if name := c.Get("metadata", "name").Str(); met.Add(name) {
			said := value.String(name)
			claim := value.Object(value.Member{Name: "claimName", Value: said})
			volumes = append(volumes, value.Object(value.Member{Name: "name", Value: said}, value.Member{Name: "persistentVolumeClaim", Value: claim}))
		}
	}
	spec := template.Get("spec")
	for v := range spec.Get("volumes").Items() {
		if !met.Has(v.Get("name").Str()) {
			volumes = append(volumes, v)
		}
	}
	template.Value = template.With("spec", spec.With("volumes", value.List(volumes...)))
	return template
}

// What kinds say of an empty selector, and of one that is wrong.
var (
	emptySelectors   = map[string]string{"Deployment": "deployment", "ReplicaSet": "deployment", "StatefulSet": "statefulset"}
	invalidSelectors = map[string]string{"Deployment": "invalid label selector", "ReplicaSet": "invalid label selector", "StatefulSet": ""}
)
