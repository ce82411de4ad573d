package builtin

import (
	"fmt"

	"github.com/deed-project/deed/value"
)

// isEmpty reports whether nothing is said by v.
func isEmpty(v value.Value) bool {
	switch v.Kind() {
	case value.KindString:
		return v.Str() == ""
	case value.KindInt:
		return v.Int() == 0
	case value.KindList, value.KindObject:
		return v.Len() == 0
	}
	return v.IsAbsent() || v.IsNull()
}

func required(detail string) func(place) (Refusal, bool) {
	return func(p place) (Refusal, bool) { return Refusal{Reason: Required, Detail: detail}, isEmpty(p.value) }
}

// missing refuses what is not there, but not what is empty.
func missing(detail string) func(place) (Refusal, bool) {
	return func(p place) (Refusal, bool) { return Refusal{Reason: Required, Detail: detail}, isNothing(p.value) }
}

func invalid(p place, detail string) Refusal {
	return Refusal{Reason: Invalid, Value: p.value, Detail: detail}
}

// changed reports whether an object that exists has another value.
func changed(p place) bool { return !p.live.IsAbsent() && !same(p.value, p.was()) }

// same reports whether two values say the same: nothing is not told apart.
func same(a, b value.Value) bool { return a.Equal(b) || isNothing(a) && isNothing(b) }

// fixedValue refuses another value.
func fixedValue(p place) (Refusal, bool) {
	return Refusal{Reason: Invalid, Value: p.value, Detail: "field is immutable", Change: true}, changed(p)
}

// fixedAsNull is fixedValue where null is shown, whatever the value is.
func fixedAsNull(p place) (Refusal, bool) {
	return Refusal{Reason: Invalid, Detail: "field is immutable", Change: true}, changed(p)
}

// fixedText is fixedValue for a text, which is empty if it is not there.
func fixedText(p place) (Refusal, bool) {
	return Refusal{Reason: Invalid, Value: value.String(p.value.Str()), Detail: "field is immutable", Change: true}, changed(p)
}

// fixedUnshown is fixedValue for what a server shows as it has it inside, which is not known here.
func fixedUnshown(p place) (Refusal, bool) {
	return Refusal{Reason: Invalid, Detail: "field is immutable", Change: true, Unshown: true}, changed(p)
}

// ofNew checks new objects only.
func ofNew(check func(place) (Refusal, bool)) func(place) (Refusal, bool) {
	return func(p place) (Refusal, bool) {
		if !p.live.IsAbsent() {
			return Refusal{}, false
		}
		return check(p)
	}
}

// onlyObject refuses what is there and is no object.
func onlyObject(detail string) func(place) (Refusal, bool) {
	return func(p place) (Refusal, bool) {
		return Refusal{Reason: Required, Detail: detail}, !isNothing(p.value) && p.value.Kind() != value.KindObject
	}
}

func unchangeable(detail string) func(place) (Refusal, bool) {
	return func(p place) (Refusal, bool) {
		return Refusal{Reason: Forbidden, Detail: detail, Change: true}, changed(p)
	}
}

// kept refuses to take away what was there.
func kept(p place) (Refusal, bool) {
	return invalid(p, "field cannot be cleared once set"), isEmpty(p.value) && changed(p) && !isEmpty(p.was())
}

// atLeast refuses a number below least, which may be left out.
func atLeast(least int64) func(place) (Refusal, bool) {
	return func(p place) (Refusal, bool) {
		return invalid(p, fmt.Sprintf("must be greater than or equal to %d", least)), p.value.Kind() == value.KindInt && p.value.Int() < least
	}
}

// above refuses a number that is not above bound, which may be left out.
func above(bound int64) func(place) (Refusal, bool) {
	return func(p place) (Refusal, bool) {
		return invalid(p, fmt.Sprintf("must be greater than %d", bound)), p.value.Kind() == value.KindInt && p.value.Int() <= bound
	}
}

// wrongPhase has a namespace be active as long as it is not deleted. The field is called as kube-apiserver calls it.
func wrongPhase(p place) (Refusal, bool) {
	want, detail := "Active", "may only be 'Active' if `deletionTimestamp` is empty"
	if !p.object.Get("metadata", "deletionTimestamp").IsAbsent() {
		want, detail = "Terminating", "may only be 'Terminating' if `deletionTimestamp` is not empty"
	}
	phase := p.value.Get("phase").Str()
	return Refusal{below: "Phase", Reason: Invalid, Value: value.String(phase), Detail: detail}, phase != want
}

// noneRemoved refuses to remove ephemeral containers.
func noneRemoved(p place) (Refusal, bool) {
	for had := range p.was().Items() {
		found := false
		for has := range p.value.Items() {
			found = found || has.Get("name").Equal(had.Get("name"))
		}
		if !found {
			detail := fmt.Sprintf("existing ephemeral containers %q may not be removed\n", had.Get("name").Str())
			return Refusal{Reason: Forbidden, Detail: detail}, true
		}
	}
	return Refusal{}, false
}

// sameNumber refuses to resize a pod to other containers.
func sameNumber(p place) (Refusal, bool) {
	return Refusal{Reason: Forbidden, Detail: "containers may not be added or removed on resize"}, p.value.Len() != p.was().Len()
}
