package builtin

import "github.com/deed-project/deed/value"

// jobUID is the label in the selector of a job. uidLabels and nameLabels are the labels of its pods with the UID and the name of the job,
// under their old and new names.
const jobUID = "batch.kubernetes.io/controller-uid"

var (
	uidLabels  = []string{"controller-uid", jobUID}
	nameLabels = []string{"job-name", "batch.kubernetes.io/job-name"}
)

// withSelector returns a new job that selects the pods with its UID and labels its pod template accordingly, unless manualSelector is set.
// It keeps labels that the client wrote. Validation refuses them if they differ.
func withSelector(job, uid value.Value) value.Value {
	spec := job.Get("spec")
	if spec.Get("manualSelector").Bool() {
		return job
	}
	template := spec.Get("template")
	metadata := template.Get("metadata")
	labels := metadata.Get("labels")
	for i := range uidLabels {
		labels = withDefault(labels, nameLabels[i], value.String(job.Get("metadata", "name").Str()))
		labels = withDefault(labels, uidLabels[i], uid)
	}
	selector := spec.Get("selector")
	asked := withDefault(selector.Get("matchLabels"), jobUID, uid)
	spec = spec.With("selector", member(selector, "matchLabels", asked))
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
