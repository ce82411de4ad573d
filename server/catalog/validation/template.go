package validation

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"github.com/deed-project/deed/value"
)

// template refuses what pods are made of.
func (r *report) template(p place, volumes names) {
	metadata := p.Get("metadata") // whose members are told as if they were those of the template
	r.labels(p.below(metadata.Get("labels"), "labels", isMember))
	r.annotations(p.below(metadata.Get("annotations"), "annotations", isMember))
	spec := p.at("spec")
	podSpec(r, spec, false, volumes)
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
	r.template(template, claimed(spec.Get("volumeClaimTemplates")))
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

// claimed returns the names of the volumes that claims become.
func claimed(claims value.Value) names {
	var out names
	for c := range claims.Items() {
		out.add(c.Get("metadata", "name").Str())
	}
	return out
}
