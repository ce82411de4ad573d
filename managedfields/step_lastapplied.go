package managedfields

import (
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// The steps TakeOver and Sync: migration from kubectl's client-side apply, which records its
// configuration in an annotation. In the example, the object has {"spec":{"replicas":1}} on record.
// kubectl now applies 2 replicas on the server side:
//
//	live replicas   conflict with the owner of .spec.replicas?
//	1               no: the live value is the recorded value, so kubectl may change it
//	5               yes: another manager has changed the value since

// kubectl is the manager name that server-side apply treats as the successor of client-side apply.
// By the annotation, kubectl takes over its own fields without conflicts. Other names get
// conflicts.
const kubectl = "kubectl"

// LastAppliedAnnotation is the annotation in which kubectl records its client-side apply.
const LastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration"

// maxAnnotations limits the bytes of the names and values of all annotations.
const maxAnnotations = 256 << 10

// takeOver returns plan without the conflicts that S5 decides for kubectl:
//
//	S5  The applier kubectl has no conflict on a field that kubectl's annotation records with its
//	    live value: it takes over what it applied on the client side.
//
// It decides no conflict if the record is missing or unreadable, is of another version, or does not
// conform to the type.
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

// readLastApplied reads kubectl's record as kube-apiserver does. It repairs the text, and the last
// one of repeated names counts. The error is a [*value.SyntaxError].
func readLastApplied(record string) (value.Value, error) {
	d := value.Decoder{Repair: true, Repeats: true}
	return documents.ParseAlone(d, []byte(record))
}

// syncLastApplied keeps kubectl's record of its client-side apply up to date:
//
//	S6  If an object has such an annotation, an apply by kubectl records the configuration in it.
//	    The owner of the annotation does not change.
//
// A record that would make the annotations too large is removed instead. Another record is a change,
// even if nothing else changes. An object in another version than the endpoint's is not marked as
// changed, because Config.Store takes only objects in the endpoint's version.
func (r *request) syncLastApplied(out outcome) outcome {
	if record, _ := lastApplied(out.content); r.manager.Name != kubectl || record == "" {
		return out
	}
	record := append(withoutRecord(r.object.data()).AppendJSON(nil), '\n')
	updated := annotations(out.content).With(LastAppliedAnnotation, value.String(string(record)))
	if r.exceeds(out.content, string(record)) {
		updated = updated.With(LastAppliedAnnotation, value.Value{})
	}
	if !updated.Equal(annotations(out.content)) && out.content.Get("apiVersion").Str() == r.apiVersion {
		out.changed = true
	}
	out.content = withAnnotations(out.content, updated)
	return out
}

// exceeds reports whether the annotations of object would be too large with record. It counts them
// in the version in which the server holds the object, because they may differ in that version.
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

// lastApplied returns kubectl's record of its client-side apply in object. It finds no record if
// one of the annotations is neither a string nor null.
func lastApplied(object value.Value) (record string, found bool) {
	v := annotations(object).Get(LastAppliedAnnotation)
	return v.Str(), !v.IsAbsent()
}

// withoutRecord returns object without kubectl's record. It removes all annotations if one of them is
// neither a string nor null.
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

// annotations returns the annotations of object, with "" for null. They are absent if one of them is
// neither a string nor null.
func annotations(object value.Value) value.Value {
	all := object.Get("metadata", "annotations")
	if all.Kind() != value.KindObject {
		return value.Value{}
	}
	for name, text := range all.Members() {
		switch text.Kind() {
		case value.KindString:
		case value.KindNull:
			all = all.With(name, value.String(""))
		default:
			return value.Value{}
		}
	}
	return all
}

// withAnnotations returns object with other annotations. Absent annotations remove the field.
func withAnnotations(object, annotations value.Value) value.Value {
	return object.With("metadata", object.Get("metadata").With("annotations", annotations))
}
