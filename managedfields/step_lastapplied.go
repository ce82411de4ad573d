package managedfields

import (
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// kubectl, as a manager name, is the one that server-side apply has for people who used client-side apply before: its own
// record of what it applied, an annotation, lets it take over without conflicts. Other names opt out.
const kubectl = "kubectl"

// LastAppliedAnnotation is where kubectl records its client-side apply.
const LastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration"

// maxAnnotations is how many bytes the names and values of all annotations may have.
const maxAnnotations = 256 << 10

// takeOver finds the fields on which kubectl has no conflicts:
//
//	S5  The applier kubectl has no conflict on a field that kubectl's annotation records with its live value: it takes over
//	    what it applied on the client side.
//
// There are none if the record is missing or unreadable, is of another version, or does not conform to the type.
func (w *write) takeOver() error {
	record, _ := LastApplied(w.live.Content)
	if w.manager.Name != kubectl || record == "" {
		return nil
	}
	content, err := value.Parse([]byte(record))
	if err != nil || gvkOf(content) != w.config.GVK {
		return nil
	}
	applied, err := typed.New(content, w.typ)
	if err != nil {
		return nil
	}
	live, err := w.typed(roleLive, w.live.Content)
	if err != nil {
		return nil
	}
	diff, err := typed.Compare(applied, live)
	if err != nil {
		return nil
	}
	w.takeover = applied.Fields().Minus(diff.Modified).Minus(diff.Added).Minus(diff.Removed)
	return nil
}

// syncLastApplied keeps kubectl's record of its client-side apply up to date:
//
//	S6  Where there is such an annotation, an apply by kubectl makes it record the configuration. Who owns the annotation
//	    does not change.
//
// A record that would make annotations too large is removed instead.
func (w *write) syncLastApplied() error {
	if record, _ := LastApplied(w.outcome); w.manager.Name != kubectl || record == "" {
		return nil
	}
	record := append(withoutRecord(w.object.data()).AppendJSON(nil), '\n')
	updated := annotations(w.outcome).With(LastAppliedAnnotation, value.String(string(record)))
	if w.exceeds(string(record)) {
		updated = updated.With(LastAppliedAnnotation, value.Value{})
	}
	w.outcome = withAnnotations(w.outcome, updated)
	return nil
}

// exceeds reports whether annotations are too large with record among them, in the version in which the server holds the object:
// its annotations may not be the same.
func (w *write) exceeds(record string) bool {
	held := w.outcome
	if w.config.Hub != "" {
		if converted, err := w.convertContent(held, w.config.Hub); err == nil {
			held = converted
		}
	}
	size := 0
	for name, text := range annotations(held).With(LastAppliedAnnotation, value.String(record)).Members() {
		size += len(name) + len(text.Str())
	}
	return size > maxAnnotations
}

// LastApplied returns kubectl's record of its client-side apply in object, and whether there is one. There is none among
// annotations of which one is no string.
func LastApplied(object value.Value) (record string, found bool) {
	v := annotations(object).Get(LastAppliedAnnotation)
	return v.Str(), !v.IsAbsent()
}

// withoutRecord returns object without kubectl's record in it, and without annotations where one of them is no string.
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
	all := object.At("metadata", "annotations")
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
