package builtin

import "github.com/deed-project/deed/value"

// The label that the selector of a job asks for, and all labels of its pods: what they are of, and what it is called, by their names of
// today and before.
const jobUID = "batch.kubernetes.io/controller-uid"

var (
	uidLabels  = []string{"controller-uid", jobUID}
	nameLabels = []string{"job-name", "batch.kubernetes.io/job-name"}
)

// withSelector returns a new job that selects the pods that have its uid, and gives it to them, unless the client says that it selects
// pods itself. What the client wrote there stays: it is refused if it is something else.
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

// withDefault returns an object with a member, unless it has it.
func withDefault(object value.Value, name string, v value.Value) value.Value {
	if !object.Get(name).IsAbsent() {
		return object
	}
	return member(object, name, v)
}

// member returns an object, which may be nothing yet, with a member.
func member(object value.Value, name string, v value.Value) value.Value {
	if object.Kind() != value.KindObject {
		object = value.Object()
	}
	return object.With(name, v)
}
