package api

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The library prints all owner references for each controller after the first, and compares each error with all others: both are quadratic.
// For long lists, this package calls the library for one reference at a time, and for a bounded number of invalid names.

const (
	// fewOwners is the number of owner references up to which one call of the library checks all.
	fewOwners = 32
	// maxWrong bounds the invalid names, and invalid owners, of one object that the library checks.
	maxWrong = 2000
)

// validateMany returns the errors that validate finds in metadata. If there are many owner references, owners checks those instead.
func validateMany(m *metav1.ObjectMeta, validate func(*metav1.ObjectMeta) field.ErrorList, owners ownerCheck) field.ErrorList {
	left := withoutWrong(m)
	references := m.OwnerReferences
	if len(references) > fewOwners {
		m.OwnerReferences = nil
	}
	errs := validate(m)
	if len(references) > fewOwners {
		errs = slices.Concat(errs, owners.all(references))
	}
	if left > 0 && len(errs) > 0 {
		errs = append(errs, More(left))
	}
	return errs
}

// withoutWrong removes invalid labels, annotations and finalizers from metadata, apart from the first maxWrong of each. It returns the
// number that it removed.
func withoutWrong(m *metav1.ObjectMeta) (left int) {
	left += dropWrong(m.Labels, func(name, text string) bool { return isQualified(name) && isLabelValue(text) })
	left += dropWrong(m.Annotations, func(name, _ string) bool { return isQualified(strings.ToLower(name)) })
	if len(m.Finalizers) <= maxWrong {
		return left
	}
	wrong := 0
	m.Finalizers = slices.DeleteFunc(m.Finalizers, func(name string) bool {
		if !isQualified(name) {
			wrong++
		}
		return wrong > maxWrong && !isQualified(name)
	})
	return left + max(0, wrong-maxWrong)
}

// dropWrong deletes invalid entries from texts, apart from the first maxWrong by name. It returns the number that it deleted.
func dropWrong(texts map[string]string, isRight func(name, text string) bool) (left int) {
	if len(texts) <= maxWrong {
		return 0
	}
	var wrong []string
	for name, text := range texts {
		if !isRight(name, text) {
			wrong = append(wrong, name)
		}
	}
	if len(wrong) <= maxWrong {
		return 0
	}
	slices.Sort(wrong)
	for _, name := range wrong[maxWrong:] {
		delete(texts, name)
	}
	return len(wrong) - maxWrong
}

// ownerCheck returns the library's errors in owner references.
type ownerCheck func([]metav1.OwnerReference) field.ErrorList

// all returns the errors in many owner references.
func (check ownerCheck) all(references []metav1.OwnerReference) field.ErrorList {
	var errs field.ErrorList
	var first *metav1.OwnerReference // the first controller
	wrong := 0
	for i, r := range references {
		controls := r.Controller != nil && *r.Controller
		second := controls && first != nil
		if controls && first == nil {
			first = &references[i]
		}
		if isPlainOwner(r) && !second {
			continue
		}
		if wrong++; wrong > maxWrong {
			continue
		}
		alone := r
		alone.Controller = nil
		errs = append(errs, renumbered(check([]metav1.OwnerReference{alone}), i)...)
		if second {
			errs = append(errs, tooManyControllers(check, references, first, r))
		}
	}
	if wrong > maxWrong {
		errs = append(errs, More(wrong-maxWrong))
	}
	return errs
}

// isPlainOwner reports whether an owner reference is certainly valid by itself.
func isPlainOwner(r metav1.OwnerReference) bool {
	version := r.APIVersion
	if group, v, ok := strings.Cut(version, "/"); ok && group != "" {
		version = v
	}
	return version != "" && !strings.Contains(version, "/") && r.Kind != "" && r.Name != "" && r.UID != "" && r.Kind != "Event"
}

var ownersPath = metadataPath.Child("ownerReferences")

// renumbered returns errors about the first reference as errors about reference i.
func renumbered(errs field.ErrorList, i int) field.ErrorList {
	for _, e := range errs {
		if rest, ok := strings.CutPrefix(e.Field, ownersPath.Index(0).String()); ok {
			e.Field = ownersPath.Index(i).String() + rest
		}
	}
	return errs
}

// tooManyControllers returns the error about a controller after the first. Its text prints all references.
func tooManyControllers(check ownerCheck, all []metav1.OwnerReference, first *metav1.OwnerReference, second metav1.OwnerReference) *field.Error {
	for _, e := range check([]metav1.OwnerReference{*first, second}) {
		if e.Field == ownersPath.String() {
			e.BadValue = all
			return e
		}
	}
	return field.Invalid(ownersPath, all, fmt.Sprintf("%s is a second controller", second.Name)) // not reached unless the library changes its text
}
