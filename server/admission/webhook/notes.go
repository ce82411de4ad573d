package webhook

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	reviewv1 "k8s.io/api/admission/v1"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/jsonpatch"
)

// notes annotates a request with the outcome of its i-th hook. The keys are those of kube-apiserver's audit log.
//
// round is the pass, and index the place of the hook among all hooks in a mutating pass.
type notes struct {
	q       *admission.Request
	hook    *Hook
	pass, i int
}

// add adds an annotation whose key identifies the call.
func (n notes) add(prefix, text string, body bool) {
	key := fmt.Sprintf("%s/round_%d_index_%d", prefix, n.pass, n.i)
	n.q.Annotate(admission.Annotation{Key: key, Value: text, Body: body, BesideBody: body})
}

// answered adds the audit annotations of a hook's response.
//
// The keys get the name of the hook in front, in sorted order.
func (n notes) answered(v *verdict) {
	if n.q.Annotate == nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(v.AuditAnnotations)) {
		n.q.Annotate(admission.Annotation{Key: n.hook.name + "/" + key, Value: v.AuditAnnotations[key]})
	}
}

// mutated records whether a hook changed the object.
func (n notes) mutated(changed bool) {
	n.document("mutation.webhook.admission.k8s.io", false, struct {
		Configuration string `json:"configuration"`
		Webhook       string `json:"webhook"`
		Mutated       bool   `json:"mutated"`
	}{n.hook.configuration, n.hook.name, changed})
}

// patched records the patch of a hook.
func (n notes) patched(patch jsonpatch.Patch) {
	n.document("patch.webhook.admission.k8s.io", true, struct {
		Configuration string             `json:"configuration"`
		Webhook       string             `json:"webhook"`
		Patch         jsonpatch.Patch    `json:"patch"`
		PatchType     reviewv1.PatchType `json:"patchType"`
	}{n.hook.configuration, n.hook.name, patch, reviewv1.PatchTypeJSONPatch})
}

// document adds an annotation with a JSON document as value.
func (n notes) document(prefix string, body bool, members any) {
	if n.q.Annotate == nil {
		return
	}
	text, err := json.Marshal(members)
	if err != nil {
		panic(err) // cannot happen: members are texts and JSON that was decoded
	}
	n.add(prefix, string(text), body)
}

// failedOpen records that a hook failed and its failure policy ignored the failure.
func (n notes) failedOpen() {
	if n.q.Annotate == nil {
		return
	}
	kind := "validating"
	if n.hook.mutating {
		kind = "mutation"
	}
	n.add("failed-open."+kind+".webhook.admission.k8s.io", n.hook.name, false)
}
