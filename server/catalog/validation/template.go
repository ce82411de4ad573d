package validation

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"github.com/deed-project/deed/value"
)

// template refuses what pods are made of.
func (r *report) template(p place) {
	metadata := p.Get("metadata") // whose members are told as if they were those of the template
	r.labels(p.below(metadata.Get("labels"), "labels", isMember))
	r.annotations(p.below(metadata.Get("annotations"), "annotations", isMember))
	spec := p.at("spec")
	podSpec(r, spec, false)
	if later := spec.at("ephemeralContainers"); later.Len() > 0 {
		r.forbidden(later, "ephemeral containers not allowed in pod template")
	}
}

// annotations refuses names of annotations, and too many.
func (r *report) annotations(p place) {
	if p.Len() == 0 {
		return
	}
	all := make(map[string]string, p.Len())
	for name, text := range p.Members() {
		all[name] = text.Str()
	}
	r.errs = append(r.errs, apivalidation.ValidateAnnotations(all, p.path())...)
}

// workload refuses a selector and the template of the pods that it selects, for a kind that is called so.
//
//	selector  must be there, be valid, and select something
//	labels    of the template must be selected
//	template  must make pods that always restart
func (r *report) workload(spec place, kind string) {
	selector, before := spec.at("selector"), len(r.errs)
	if !selector.is() {
		r.required(selector, "")
	} else {
		r.selector(selector)
	}
	wrong := selector.is() && len(r.errs) > before
	if selector.is() && !selects(selector.Value) {
		r.invalid(selector, "empty selector is invalid for "+emptySelectors[kind])
	}
	if wrong {
		r.invalid(selector, invalidSelectors[kind])
		return
	}
	template := spec.at("template")
	r.labelsSelected(template, selector.Value)
	r.template(withClaims(template, spec.Get("volumeClaimTemplates")))
	r.restartsAlways(template, kind)
}

// What kinds say of an empty selector, and of one that is wrong.
var (
	emptySelectors   = map[string]string{"Deployment": "deployment", "ReplicaSet": "deployment", "StatefulSet": "statefulset"}
	invalidSelectors = map[string]string{"Deployment": "invalid label selector", "ReplicaSet": "invalid label selector", "StatefulSet": ""}
)

// labelsSelected refuses labels of a template that the selector does not select: without a selector none are, with an empty one all.
func (r *report) labelsSelected(template place, selector value.Value) {
	metadata := template.at("metadata")
	labels := metadata.at("labels")
	if !isSet(selector) || selects(selector) && !selected(selector, labels.Value) {
		r.invalid(labels, "`selector` does not match template `labels`")
	}
}

// restartsAlways refuses pods that end.
func (r *report) restartsAlways(template place, kind string) {
	spec := template.at("spec")
	if policy := spec.at("restartPolicy"); policy.Str() != "Always" {
		r.onlyAmong(policy, "Always")
	}
	if deadline := spec.at("activeDeadlineSeconds"); deadline.is() {
		if kind == "Deployment" {
			kind = "ReplicaSet"
		}
		r.forbidden(deadline, "activeDeadlineSeconds in "+kind+" is not Supported")
	}
}

// withClaims returns a template with the volumes that claims become: they come first, and take the place of volumes that are called so.
func withClaims(template place, claims value.Value) place {
	if claims.Len() == 0 {
		return template
	}
	var met names
	var volumes []value.Value
	for c := range claims.Items() {
		if name := c.Get("metadata", "name").Str(); met.add(name) {
			said := value.String(name)
			claim := value.Object(value.Member{Name: "claimName", Value: said})
			volumes = append(volumes, value.Object(value.Member{Name: "name", Value: said}, value.Member{Name: "persistentVolumeClaim", Value: claim}))
		}
	}
	spec := template.Get("spec")
	for v := range spec.Get("volumes").Items() {
		if !met.has(v.Get("name").Str()) {
			volumes = append(volumes, v)
		}
	}
	template.Value = template.With("spec", spec.With("volumes", value.List(volumes...)))
	return template
}
