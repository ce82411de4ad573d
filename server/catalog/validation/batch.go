package validation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/deed-project/deed/value"
)

// Labels by which a job knows its pods: what they are of, and what it is called, by their names of today and before.
var (
	jobUIDLabels  = []string{"controller-uid", "batch.kubernetes.io/controller-uid"}
	jobNameLabels = []string{"job-name", "batch.kubernetes.io/job-name"}
)

// job refuses a Job.
func job(r *report, object place, live value.Value) {
	spec := object.at("spec")
	if !isSet(live) {
		r.generatedSelector(object, spec)
	}
	r.jobSpec(spec)
	selector := spec.at("selector")
	if !selector.is() {
		r.required(selector, "")
	}
	r.selector(selector)
	template := spec.at("template")
	r.labelsSelected(template, selector.Value)
	if isSet(live) {
		r.jobChange(spec, live.Get("spec"), waits(live))
	}
	if mode, n := spec.text("completionMode"), spec.Get("completions").Int(); mode == "Indexed" && n > 0 {
		metadata := object.at("metadata")
		name := metadata.at("name")
		host := fmt.Sprintf("%s-%d", name.Str(), n-1)
		if len(validation.IsDNS1123Label(host)) > 0 {
			r.invalid(name, "will not able to create pod with invalid DNS label: "+host)
		}
	}
}

// generatedSelector refuses labels of pods that are not those of their job, unless the client says that it selects pods itself.
func (r *report) generatedSelector(object, spec place) {
	if spec.Get("manualSelector").Bool() || !isSet(spec.Get("selector")) {
		return
	}
	uid, name := object.Get("metadata", "uid"), value.String(object.Get("metadata", "name").Str())
	template := spec.at("template")
	metadata := template.at("metadata")
	labels := metadata.at("labels")
	for i := range jobUIDLabels {
		r.hasLabel(labels, jobUIDLabels[i], uid)
		r.hasLabel(labels, jobNameLabels[i], name)
	}
	var own []value.Member
	for i := range jobUIDLabels {
		own = append(own, value.Member{Name: jobUIDLabels[i], Value: uid}, value.Member{Name: jobNameLabels[i], Value: name})
	}
	if selector := spec.at("selector"); !selected(selector.Value, value.Object(own...)) {
		r.invalid(selector, "`selector` not auto-generated")
	}
}

// hasLabel refuses labels without one that says what it should.
func (r *report) hasLabel(labels place, name string, want value.Value) {
	label := labels.below(labels.Get(name), name, isKey)
	switch detail := fmt.Sprintf("must be '%s'", want.Str()); {
	case !label.is():
		r.required(label, detail)
	case !label.Value.Equal(want):
		r.invalidAs(label, labels.ToAny(), detail)
	}
}

// jobSpec refuses what a job does.
func (r *report) jobSpec(spec place) {
	for _, name := range [...]string{
		"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished", "backoffLimitPerIndex",
		"maxFailedIndexes",
	} {
		r.natural(spec.at(name))
	}
	r.indexed(spec)
	if policy := spec.at("podReplacementPolicy"); policy.is() {
		if isSet(spec.Get("podFailurePolicy")) {
			r.onlyAmong(policy, "Failed")
		} else {
			r.onlyAmong(policy, "Failed", "TerminatingOrFailed")
		}
	}
	template := spec.at("template")
	r.template(template)
	pod := template.at("spec")
	switch restart := pod.at("restartPolicy"); restart.Str() {
	case "Always", "":
		r.required(restart, `valid values: "OnFailure", "Never"`)
	case "OnFailure":
		if isSet(spec.Get("podFailurePolicy")) {
			r.invalid(restart, `only "Never" is supported when podFailurePolicy is specified`)
		}
	default:
		r.onlyAmong(restart, "OnFailure", "Never")
	}
}

// indexed refuses what only jobs whose pods are counted have, and what these must have.
func (r *report) indexed(spec place) {
	mode := spec.at("completionMode")
	perIndex, failed := spec.at("backoffLimitPerIndex"), spec.at("maxFailedIndexes")
	if failed.is() && !perIndex.is() {
		r.required(perIndex, "when maxFailedIndexes is specified")
	}
	if mode.is() {
		r.onlyAmong(mode, "NonIndexed", "Indexed")
	}
	if mode.Str() == "Indexed" {
		if completions := spec.at("completions"); !completions.is() {
			r.required(completions, "when completion mode is Indexed")
		} else if failed.is() && failed.Int() > completions.Int() {
			r.invalid(failed, "must be less than or equal to completions")
		}
		return
	}
	for _, p := range [...]place{perIndex, failed} {
		if p.is() {
			r.invalid(p, "requires indexed completion mode")
		}
	}
	if policy := spec.at("successPolicy"); policy.is() {
		r.invalid(policy, "requires indexed completion mode")
	}
}
