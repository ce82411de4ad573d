package secret

import (
	"slices"

	"github.com/deed-project/deed/value"
)

// The masks of secrets, as in kubectl diff.
const (
	masked       = "***"
	maskedBefore = "*** (before)"
	maskedAfter  = "*** (after)"
)

// isMask reports whether v is a mask.
func isMask(v value.Value) bool {
	switch v.Str() {
	case masked, maskedBefore, maskedAfter:
		return true
	}
	return false
}

// pair masks two values, the states before and after a change. p holds their secrets.
func pair(p parts, before, after value.Value) (value.Value, value.Value) {
	return shown(p, before, after, maskedBefore), shown(p, after, before, maskedAfter)
}

// shown returns v with the secrets in p masked. The mask is changed if other, the state before or after v, has another secret at the place.
// Items of lists are compared by index.
func shown(p parts, v, other value.Value, changed string) value.Value {
	switch {
	case len(p) == 0 || v.IsAbsent():
		return v
	case p.hides(v) || p.hides(other):
		if other.IsAbsent() || v.Equal(other) {
			return value.String(masked)
		}
		return value.String(changed)
	case v.IsNull():
		return v
	case v.Kind() == value.KindList:
		items := slices.Collect(v.Items())
		others := slices.Collect(other.Items())
		for i := range items {
			var counterpart value.Value
			if i < len(others) {
				counterpart = others[i]
			}
			items[i] = shown(p.item(), items[i], counterpart, changed)
		}
		return value.List(items...)
	}
	var members []value.Member
	for name, member := range v.Members() {
		members = append(members, value.Member{Name: name, Value: shown(p.member(name), member, other.Get(name), changed)})
	}
	return value.Object(members...)
}
