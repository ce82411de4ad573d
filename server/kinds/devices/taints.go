package devices

import (
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// ValidateTaintRule validates a DeviceTaintRule.
func ValidateTaintRule(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	selector, taint := spec.At("deviceSelector"), spec.At("taint")
	if driver := selector.At("driver"); driver.IsSet() {
		r.DriverName(driver)
	}
	if pool := selector.At("pool"); pool.IsSet() {
		validatePoolName(r, pool)
	}
	if device := selector.At("device"); device.IsSet() {
		r.Label(device)
	}
	key, text, effect := taint.At("key"), taint.At("value"), taint.At("effect")
	r.InvalidAs(key, key.Str(), validation.IsQualifiedName(key.Str())...)
	if text.Str() != "" {
		r.Invalid(text, validation.IsValidLabelValue(text.Str())...)
	}
	if walk.IsSet(live) && effect.Str() == live.Get("spec", "taint", "effect").Str() {
		return
	}
	if effect.Str() == "" {
		r.RequiredLater(effect, "")
	} else {
		r.AmongLater(effect, taintEffects...)
	}
}

// mostRuleConditions is how many conditions a DeviceTaintRule may have.
const mostRuleConditions = 8

// ValidateTaintRuleStatus validates the conditions of a DeviceTaintRule.
func ValidateTaintRuleStatus(r *walk.Report, object walk.Place, live value.Value) {
	walk.ValidateConditions(r, object, live)
	if list := object.At("status").At("conditions"); list.Len() > mostRuleConditions {
		r.Add(field.TooMany(list.Path(), list.Len(), mostRuleConditions))
	}
}

// validateDeviceTaints validates the taints of a device.
func validateDeviceTaints(r *walk.Report, p walk.Place) {
	if p.Len() > mostTaints {
		r.Add(field.TooMany(p.Path(), p.Len(), mostTaints))
		return
	}
	for i := range p.Indexes() {
		taint := p.Index(i)
		text, effect := taint.At("value"), taint.At("effect")
		r.LabelKey(taint.At("key"))
		if text.Str() != "" {
			r.Invalid(text, validation.IsValidLabelValue(text.Str())...)
		}
		if effect.Str() == "" {
			r.RequiredLater(effect, "")
		} else {
			r.AmongLater(effect, taintEffects...)
		}
	}
}
