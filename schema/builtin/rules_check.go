package builtin

import (
	"fmt"
	"slices"

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

// absent refuses what is not there, but not what is empty.
func absent(p place) (Refusal, bool) {
	return Refusal{Reason: Required}, p.value.IsAbsent() || p.value.IsNull()
}

func among(values ...string) func(place) (Refusal, bool) {
	return func(p place) (Refusal, bool) {
		return Refusal{Reason: Unsupported, Value: value.String(p.value.Str()), Values: values}, !slices.Contains(values, p.value.Str())
	}
}

// allAmong refuses a list with an item that is not among values.
func allAmong(values ...string) func(place) (Refusal, bool) {
	return func(p place) (Refusal, bool) {
		for item := range p.value.Items() {
			if !slices.Contains(values, item.Str()) {
				return Refusal{Reason: Unsupported, Value: value.String(item.Str()), Values: values}, true
			}
		}
		return Refusal{}, false
	}
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

// belowMinimum refuses a maximum of replicas that is below their minimum.
func belowMinimum(p place) (Refusal, bool) {
	refused := Refusal{Reason: Invalid, Value: value.Int(p.value.Int()), Detail: "must be greater than or equal to `minReplicas`"}
	return refused, p.value.Int() < p.parent.Get("minReplicas").Int()
}

// negative refuses a number below zero: none is another matter.
func negative(p place) (Refusal, bool) {
	return invalid(p, "must be greater than or equal to 1"), p.value.Int() < 0
}

func positive(p place) (Refusal, bool) {
	return invalid(p, "must be greater than zero"), p.value.Int() <= 0
}

func port(p place) (Refusal, bool) {
	n := p.value.Int()
	return invalid(p, "must be between 1 and 65535, inclusive"), n < 1 || n > 65535
}

// portless refuses a service that has an address and no port.
func portless(p place) (Refusal, bool) {
	typ, ip := p.parent.Get("type").Str(), p.parent.Get("clusterIP").Str()
	return Refusal{Reason: Required}, p.value.Len() == 0 && typ != "ExternalName" && ip != "None"
}

// nameless refuses a port without a name beside others.
func nameless(p place) (Refusal, bool) {
	return Refusal{Reason: Required}, isEmpty(p.value) && p.object.Get("spec", "ports").Len() > 1
}

// unaddressed refuses endpoints without an address.
func unaddressed(p place) (Refusal, bool) {
	return Refusal{Reason: Required, Detail: "must specify `addresses` or `notReadyAddresses`"},
		p.value.Get("addresses").Len() == 0 && p.value.Get("notReadyAddresses").Len() == 0
}

// storageless refuses a claim that does not say how much it wants.
func storageless(p place) (Refusal, bool) {
	return Refusal{Reason: Required, Key: "storage"}, p.value.Get("requests", "storage").IsAbsent()
}

// rollingRecreate refuses how a Deployment rolls that does not.
func rollingRecreate(p place) (Refusal, bool) {
	return Refusal{Reason: Forbidden, Detail: "may not be specified when strategy `type` is 'Recreate'"},
		!isNothing(p.value) && p.parent.Get("type").Str() == "Recreate"
}

// endless refuses pods of a job that begin again for ever.
func endless(p place) (Refusal, bool) {
	policy := p.value.Str()
	return Refusal{Reason: Required, Detail: `valid values: "OnFailure", "Never"`}, policy != "OnFailure" && policy != "Never"
}

// sameCount refuses to add or remove containers of a pod.
func sameCount(p place) (Refusal, bool) {
	for _, list := range []string{"containers", "initContainers"} {
		if !p.live.IsAbsent() && p.value.Get(list).Len() != p.was().Get(list).Len() {
			return Refusal{below: list, Reason: Forbidden, Detail: "pod updates may not add or remove containers"}, true
		}
	}
	return Refusal{}, false
}

// repeated refuses an item of the name of one before it.
func repeated(p place) (Refusal, bool) {
	name := p.value.Get("name")
	if name.Str() == "" {
		return Refusal{}, false
	}
	repeats := p.names[name.Str()]
	p.names[name.Str()] = true
	return Refusal{below: "name", Reason: Duplicate, Value: name}, repeats
}

// onlyLater refuses what only pods that exist may have.
func onlyLater(p place) (Refusal, bool) {
	return Refusal{Reason: Forbidden, Detail: "cannot be set on create"}, p.live.IsAbsent() && p.value.Len() > 0
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

// ofResources refuses a rule without something, unless it is about paths.
func ofResources(detail string) func(place) (Refusal, bool) {
	return func(p place) (Refusal, bool) {
		return Refusal{Reason: Required, Detail: detail}, p.value.Len() == 0 && p.parent.Get("nonResourceURLs").Len() == 0
	}
}

func selectsAll(called string) func(place) (Refusal, bool) {
	return func(p place) (Refusal, bool) {
		return invalid(p, "empty selector is invalid for "+called), p.value.Kind() == value.KindObject && !selects(p.value)
	}
}

// selects reports whether a selector asks for anything.
func selects(selector value.Value) bool {
	return selector.Get("matchLabels").Len() > 0 || selector.Get("matchExpressions").Len() > 0
}

// selected refuses labels of a template that the selector does not find.
func selected(p place) (Refusal, bool) {
	selector := p.object.Get("spec", "selector")
	found := !isNothing(selector) && (!selects(selector) || matches(selector, p.value))
	return invalid(p, "`selector` does not match template `labels`"), !found
}

// matches reports whether labels are as a selector asks for. What it cannot ask for is taken for granted.
func matches(selector, labels value.Value) bool {
	for name, text := range selector.Get("matchLabels").Members() {
		if !labels.Get(name).Equal(text) {
			return false
		}
	}
	for e := range selector.Get("matchExpressions").Items() {
		has := labels.Get(e.Get("key").Str())
		in := false
		for v := range e.Get("values").Items() {
			in = in || !has.IsAbsent() && v.Equal(has)
		}
		switch e.Get("operator").Str() {
		case "In":
			if !in {
				return false
			}
		case "NotIn":
			if in {
				return false
			}
		case "Exists":
			if has.IsAbsent() {
				return false
			}
		case "DoesNotExist":
			if !has.IsAbsent() {
				return false
			}
		}
	}
	return true
}
