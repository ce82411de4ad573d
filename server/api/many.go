package api

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The library shows all owner references for each controller beyond the first, and compares each error with all others. So it is asked about
// one reference at a time where there are many, and about a bounded number of names that are wrong.

const (
	// fewOwners is up to how many owner references the library is asked about all of them at once.
	fewOwners = 32
	// maxWrong is how many wrong names, or owners, of one object the library is asked about.
	maxWrong = 2000
)

// validateMany returns what validate finds wrong with metadata, and what owners finds wrong with its owner references if there are many.
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

// withoutWrong takes labels, annotations and finalizers that are wrong out of metadata, but for the first of each, and returns how many.
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

// dropWrong deletes what is wrong from texts, but for the first maxWrong by name, and returns how many it deletes.
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

// ownerCheck returns what the library finds wrong with owner references.
type ownerCheck func([]metav1.OwnerReference) field.ErrorList

// all returns what is wrong with many owner references.
func (check ownerCheck) all(references []metav1.OwnerReference) field.ErrorList {
	var errs field.ErrorList
	var first *metav1.OwnerReference // controller
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

// isPlainOwner reports whether there is surely nothing wrong with an owner reference by itself.
func isPlainOwner(r metav1.OwnerReference) bool {
	version := r.APIVersion
	if group, v, ok := strings.Cut(version, "/"); ok && group != "" {
		version = v
	}
	return version != "" && !strings.Contains(version, "/") && r.Kind != "" && r.Name != "" && r.UID != "" && r.Kind != "Event"
}

var ownersPath = metadataPath.Child("ownerReferences")

// renumbered returns errors about the first of several owner references as errors about the one with a number.
func renumbered(errs field.ErrorList, i int) field.ErrorList {
	for _, e := range errs {
		if rest, ok := strings.CutPrefix(e.Field, ownersPath.Index(0).String()); ok {
			e.Field = ownersPath.Index(i).String() + rest
		}
	}
	return errs
}

// tooManyControllers is the error about a controller beyond the first, which shows all references.
func tooManyControllers(check ownerCheck, all []metav1.OwnerReference, first *metav1.OwnerReference, second metav1.OwnerReference) *field.Error {
	for _, e := range check([]metav1.OwnerReference{*first, second}) {
		if e.Field == ownersPath.String() {
			e.BadValue = all
			return e
		}
	}
	return field.Invalid(ownersPath, all, fmt.Sprintf("%s is a second controller", second.Name)) // which the library says otherwise
}
