// Package jobs validates Jobs and CronJobs, and completes Jobs with what selects their pods.
//
// A job selects its pods by its own UID, which the server writes to the selector and to the labels of the template:
//
//	spec.selector.matchLabels        batch.kubernetes.io/controller-uid: UID
//	spec.template.metadata.labels    controller-uid and batch.kubernetes.io/controller-uid: UID
//	                                 job-name and batch.kubernetes.io/job-name: NAME
//
// With manualSelector, the client writes both. The labels without a prefix are those of earlier releases.
package jobs

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/deed-project/deed/server/kinds/pods"
	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// Labels by which a job knows its pods: what they are of, and what it is called, by their names of today and before.
var (
	jobUIDLabels  = []string{"controller-uid", "batch.kubernetes.io/controller-uid"}
	jobNameLabels = []string{"job-name", "batch.kubernetes.io/job-name"}
)

// Validate refuses a Job.
//
// Pods of an indexed job have the index behind the name of the job, so the longest of them must be a DNS label.
func Validate(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	if !walk.IsSet(live) {
		validateGeneratedSelector(r, object, spec)
	}
	validateJobSpec(r, spec)
	selector := spec.At("selector")
	if !selector.IsSet() {
		r.Required(selector, "")
	}
	before := len(r.Errs)
	r.Selector(selector)
	if template := spec.At("template"); len(r.Errs) == before { // otherwise it selects nothing
		pods.ValidateLabelsSelected(r, template, selector.Value)
	}
	if walk.IsSet(live) {
		validateJobChange(r, spec, live.Get("spec"), waits(live))
	}
	if mode, n := spec.Text("completionMode"), spec.Get("completions").Int(); mode == "Indexed" && n > 0 {
		metadata := object.At("metadata")
		name := metadata.At("name")
		host := fmt.Sprintf("%s-%d", name.Str(), n-1)
		if len(validation.IsDNS1123Label(host)) > 0 {
			r.Invalid(name, "will not able to create pod with invalid DNS label: "+host)
		}
	}
}

// validateGeneratedSelector refuses labels of pods that are not those of their job, unless the client says that it selects pods itself.
func validateGeneratedSelector(r *walk.Report, object, spec walk.Place) {
	if spec.Get("manualSelector").Bool() || !walk.IsSet(spec.Get("selector")) {
		return
	}
	uid, name := object.Get("metadata", "uid"), value.String(object.Get("metadata", "name").Str())
	template := spec.At("template")
	metadata := template.At("metadata")
	labels := metadata.At("labels")
	for i := range jobUIDLabels {
		hasLabel(r, labels, jobUIDLabels[i], uid)
		hasLabel(r, labels, jobNameLabels[i], name)
	}
	var own []value.Member
	for i := range jobUIDLabels {
		own = append(own, value.Member{Name: jobUIDLabels[i], Value: uid}, value.Member{Name: jobNameLabels[i], Value: name})
	}
	selector := spec.At("selector")
	if _, err := metav1.LabelSelectorAsSelector(walk.LabelSelector(selector.Value)); err == nil && !walk.Selected(selector.Value, value.Object(own...)) {
		r.Invalid(selector, "`selector` not auto-generated")
	}
}

// hasLabel refuses labels without one that says what it should.
//
// The error shows all labels, as in kube-apiserver.
func hasLabel(r *walk.Report, labels walk.Place, name string, want value.Value) {
	label := labels.Below(labels.Get(name), name, walk.IsKey)
	switch detail := fmt.Sprintf("must be '%s'", want.Str()); {
	case !label.IsSet():
		r.Required(label, detail)
	case !label.Value.Equal(want):
		r.InvalidAs(label, labels.ToAny(), detail)
	}
}

// validateJobSpec refuses what a job does.
//
// It is also for the jobs of a CronJob.
func validateJobSpec(r *walk.Report, spec walk.Place) {
	for _, name := range [...]string{
		"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished", "backoffLimitPerIndex",
		"maxFailedIndexes",
	} {
		r.Natural(spec.At(name))
	}
	validateIndexed(r, spec)
	if policy := spec.At("podReplacementPolicy"); policy.IsSet() {
		if walk.IsSet(spec.Get("podFailurePolicy")) {
			r.OnlyAmong(policy, "Failed")
		} else {
			r.OnlyAmong(policy, "Failed", "TerminatingOrFailed")
		}
	}
	template := spec.At("template")
	pods.ValidateTemplate(r, template)
	pod := template.At("spec")
	switch restart := pod.At("restartPolicy"); restart.Str() {
	case "Always", "":
		r.Required(restart, `valid values: "OnFailure", "Never"`)
	case "OnFailure":
		if walk.IsSet(spec.Get("podFailurePolicy")) {
			r.Invalid(restart, `only "Never" is supported when podFailurePolicy is specified`)
		}
	default:
		r.OnlyAmong(restart, "OnFailure", "Never")
	}
}

// validateIndexed refuses what only jobs whose pods are counted have, and what these must have.
//
// The checks stand in the order of kube-apiserver, which does not follow the fields.
func validateIndexed(r *walk.Report, spec walk.Place) {
	mode := spec.At("completionMode")
	perIndex, failed := spec.At("backoffLimitPerIndex"), spec.At("maxFailedIndexes")
	if failed.IsSet() && !perIndex.IsSet() {
		r.Required(perIndex, "when maxFailedIndexes is specified")
	}
	validateManagedBy(r, spec.At("managedBy"))
	if mode.IsSet() {
		r.OnlyAmong(mode, "NonIndexed", "Indexed")
	}
	if mode.Str() == "Indexed" {
		if completions := spec.At("completions"); !completions.IsSet() {
			r.Required(completions, "when completion mode is Indexed")
		}
		validateIndexLimits(r, spec)
	} else if !mode.IsSet() || mode.Str() == "NonIndexed" {
		for _, p := range [...]walk.Place{perIndex, failed} {
			if p.IsSet() {
				r.Invalid(p, "requires indexed completion mode")
			}
		}
	}
	if policy := spec.At("podFailurePolicy"); policy.IsSet() {
		validateFailurePolicy(r, spec, policy)
	}
	switch policy := spec.At("successPolicy"); {
	case !policy.IsSet():
	case mode.Str() != "Indexed":
		r.Invalid(policy, "requires indexed completion mode")
	default:
		validateSuccessPolicy(r, policy, spec.Get("completions").Int())
	}
}

// validateJobChange refuses what may not change of a job. If it is mutable, its pods may change in part.
//
// An indexed job may change its completions together with its parallelism.
func validateJobChange(r *walk.Report, spec walk.Place, was value.Value, mutable bool) {
	switch completions := spec.At("completions"); {
	case spec.Text("completionMode") != "Indexed":
		r.Unchanged(completions, was.Get("completions"))
	case completions.IsSet() && !walk.Same(completions.Value, was.Get("completions")) && !completions.Equal(spec.Get("parallelism")):
		r.Invalid(completions, "can only be modified in tandem with spec.parallelism")
	}
	r.Unchanged(spec.At("selector"), was.Get("selector"))
	if template := spec.At("template"); mutable {
		validateWaitingTemplate(r, template.At("spec"), was.Get("template", "spec"))
	} else {
		r.Unchanged(template, was.Get("template"))
	}
	for _, name := range [...]string{"completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"} {
		r.Unchanged(spec.At(name), was.Get(name))
	}
}

// waits reports whether a job has no pods because it is suspended.
//
// A job that is suspended anew has begun, and waits only once its pods are gone.
func waits(job value.Value) bool {
	status := job.Get("status")
	begun := walk.IsSet(status.Get("startTime"))
	for c := range status.Get("conditions").Items() {
		begun = begun && !(c.Get("type").Str() == "Suspended" && c.Get("status").Str() == "True")
	}
	return job.Get("spec", "suspend").Bool() && !begun && status.Get("active").Int() == 0
}

// validateWaitingTemplate refuses changes of the pods of a job that waits, but of where they may run and of what they want of nodes.
//
// What may change is written to the old template, which must then equal the new one.
func validateWaitingTemplate(r *walk.Report, spec walk.Place, was value.Value) {
	for _, name := range [...]string{"nodeSelector", "tolerations", "schedulingGates"} {
		was = was.With(name, spec.Get(name))
	}
	// An affinity that has no other part than that for nodes may also come or go.
	affinity := walk.WithMember(was.Get("affinity"), "nodeAffinity", spec.Get("affinity", "nodeAffinity"))
	if affinity.Len() == 0 && !walk.IsSet(spec.Get("affinity")) {
		affinity = value.Value{}
	}
	was = was.With("affinity", affinity)
	for _, list := range [...]string{"containers", "initContainers"} {
		was = was.With(list, withResources(was.Get(list), spec.Get(list)))
	}
	r.Unchanged(spec, was)
}

// withResources returns containers that want what others want, each of which has the name of the one in its place.
func withResources(containers, others value.Value) value.Value {
	if containers.Len() != others.Len() || containers.Len() == 0 {
		return containers
	}
	var out []value.Value
	for i := range containers.Len() {
		c, other := containers.Item(i), others.Item(i)
		if c.Get("name").Equal(other.Get("name")) {
			c = c.With("resources", other.Get("resources"))
		}
		out = append(out, c)
	}
	return value.List(out...)
}

// WithSelector returns a new job that selects the pods with its UID and labels its pod template accordingly, unless manualSelector is set.
// It keeps labels that the client wrote. Validation refuses them if they differ. Labels of the job that are the template's by default share
// their storage, as in kube-apiserver, so that they get the new labels too.
func WithSelector(job, live, uid value.Value) value.Value {
	spec := job.Get("spec")
	if !live.IsAbsent() || spec.Get("manualSelector").Bool() {
		return job
	}
	template := spec.Get("template")
	metadata := template.Get("metadata")
	labels := metadata.Get("labels")
	shared := labels.Len() > 0 && job.Get("metadata", "labels").Same(labels)
	for i := range jobUIDLabels {
		labels = withDefault(labels, jobNameLabels[i], value.String(job.Get("metadata", "name").Str()))
		labels = withDefault(labels, jobUIDLabels[i], uid)
	}
	selector := spec.Get("selector")
	asked := withDefault(selector.Get("matchLabels"), jobUIDLabels[1], uid)
	spec = spec.With("selector", member(selector, "matchLabels", asked))
	if shared {
		job = job.With("metadata", job.Get("metadata").With("labels", labels))
	}
	return job.With("spec", spec.With("template", member(template, "metadata", member(metadata, "labels", labels))))
}

// withDefault returns object with a member, unless object has that member already.
func withDefault(object value.Value, name string, v value.Value) value.Value {
	if !object.Get(name).IsAbsent() {
		return object
	}
	return member(object, name, v)
}

// member returns object, which may be absent, with a member.
func member(object value.Value, name string, v value.Value) value.Value {
	if object.Kind() != value.KindObject {
		object = value.Object()
	}
	return object.With(name, v)
}

// What jobs do about the pods that fail or succeed. The limits below keep the status of a job from growing too large: it lists indexes.

// Limits of indexed jobs.
const (
	mostPods       = 100_000
	ManyIndexes    = 100_000
	MostOfMany     = 10_000
	longestManager = 63
)
