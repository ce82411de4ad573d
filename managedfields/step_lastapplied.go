package managedfields

import (
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// The steps TakeOver and Sync: people who come from kubectl's client-side apply, which records in
// an annotation what it applied. An object that has {"spec":{"replicas":1}} on record, applied by
// kubectl on the server side with 2 replicas:
//
//	live replicas   conflict with who owns .spec.replicas?
//	1               no: what kubectl recorded is what is there, so it is kubectl's to change
//	5               yes: somebody else has changed it since

// kubectl, as a manager name, is the one that server-side apply has for people who used client-side
// apply before: its own record of what it applied, an annotation, lets it take over without
// conflicts. Other names opt out.
const kubectl = "kubectl"

// LastAppliedAnnotation is where kubectl records its client-side apply.
const LastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration"

// maxAnnotations is how many bytes the names and values of all annotations may have.
const maxAnnotations = 256 << 10

// takeOver returns plan with the conflicts decided that kubectl does not have:
//
//	S5  The applier kubectl has no conflict on a field that kubectl's annotation records with its
//	    live value: it takes over what it applied on the client side.
//
// There are none if the record is missing or unreadable, is of another version, or does not conform
// to the type.
func (r *request) takeOver(plan *merge.Plan) *merge.Plan {
	record, _ := lastApplied(r.live.Content)
	if r.manager.Name != kubectl || record == "" {
		return plan
	}
	content, err := readLastApplied(record)
	if err != nil || gvkOf(content) != r.config.GVK {
		return plan
	}
	applied, err := typed.New(content, r.typ)
	if err != nil {
		return plan
	}
	live, err := r.conforming(roleLive, merging.Config(plan), r.live.Content)
	if err != nil {
		return plan
	}
	diff, err := typed.Compare(applied, live)
	if err != nil {
		return plan
	}
	return merging.TakeOver(plan, applied.Fields().Minus(diff.Modified).Minus(diff.Added).Minus(diff.Removed))
}

// readLastApplied reads kubectl's record as kube-apiserver does: repaired, and with names that come
// twice, of which the last counts. The error is a [*value.SyntaxError].
func readLastApplied(record string) (value.Value, error) {
	d := value.Decoder{Repair: true, Repeats: true}
	return documents.ParseAlone(d, []byte(record))
}

// syncLastApplied keeps kubectl's record of its client-side apply up to date:
//
//	S6  Where there is such an annotation, an apply by kubectl makes it record the configuration.
//	    Who owns the annotation does not change.
//
// A record that would make annotations too large is removed instead.
func (r *request) syncLastApplied(out outcome) outcome {
	if record, _ := lastApplied(out.content); r.manager.Name != kubectl || record == "" {
		return out
	}
	record := append(withoutRecord(r.object.data()).AppendJSON(nil), '\n')
	updated := annotations(out.content).With(LastAppliedAnnotation, value.String(string(record)))
	if r.exceeds(out.content, string(record)) {
		updated = updated.With(LastAppliedAnnotation, value.Value{})
	}
	out.content = withAnnotations(out.content, updated)
	return out
}

// exceeds reports whether the annotations of object are too large with record among them, in the
// version in which the server holds it: its annotations may not be the same.
func (m *FieldManager) exceeds(object value.Value, record string) bool {
	held := object
	if m.config.Hub != "" {
		if converted, err := m.convertContent(held, m.config.Hub); err == nil {
			held = converted
		}
	}
	size := 0
	for name, text := range annotations(held).With(LastAppliedAnnotation, value.String(record)).Members() {
		size += len(name) + len(text.Str())
	}
	return size > maxAnnotations
}

// lastApplied returns kubectl's record of its client-side apply in object, and whether there is
// one. There is none among annotations of which one is no string.
func lastApplied(object value.Value) (record string, found bool) {
	v := annotations(object).Get(LastAppliedAnnotation)
	return v.Str(), !v.IsAbsent()
}

// withoutRecord returns object without kubectl's record in it, and without annotations where one of
// them is no string.
func withoutRecord(object value.Value) value.Value {
	all := annotations(object)
	switch {
	case object.Get("metadata").Kind() != value.KindObject:
		return object
	case all.IsAbsent():
		return withAnnotations(object, value.Value{})
	}
	return withAnnotations(object, all.With(LastAppliedAnnotation, value.Value{}))
}

// annotations returns the annotations of object, and absent unless all of them are strings.
func annotations(object value.Value) value.Value {
	all := object.Get("metadata", "annotations")
	for _, text := range all.Members() {
		if text.Kind() != value.KindString {
			return value.Value{}
		}
	}
	if all.Kind() != value.KindObject {
		return value.Value{}
	}
	return all
}

// withAnnotations returns object with other annotations; absent ones remove the field.
func withAnnotations(object, annotations value.Value) value.Value {
	return object.With("metadata", object.Get("metadata").With("annotations", annotations))
}
