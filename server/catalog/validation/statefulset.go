package validation

import "github.com/deed-project/deed/value"

// statefulSet refuses a StatefulSet.
func statefulSet(r *report, object place, live value.Value) {
	spec := object.at("spec")
	if policy := spec.at("podManagementPolicy"); policy.Str() != "OrderedReady" && policy.Str() != "Parallel" {
		r.invalid(policy, "must be 'OrderedReady' or 'Parallel'")
	}
	r.setStrategy(spec.at("updateStrategy"))
	if retention := spec.at("persistentVolumeClaimRetentionPolicy"); retention.is() {
		r.onlyAmong(retention.at("whenDeleted"), "Retain", "Delete")
		r.onlyAmong(retention.at("whenScaled"), "Retain", "Delete")
	}
	claims := spec.at("volumeClaimTemplates")
	for i := range claims.indexes() {
		if isSet(live) {
			break // as they may not change
		}
		claim := claims.item(i)
		r.claimSpec(claim.at("spec"))
	}
	r.natural(spec.at("replicas"))
	r.natural(spec.at("minReadySeconds"))
	ordinals := spec.at("ordinals")
	r.natural(ordinals.at("start"))
	if name := spec.at("serviceName"); name.Str() != "" && !isSet(live) {
		r.label(name)
	}
	r.workload(spec, "StatefulSet")
	if isSet(live) {
		for _, name := range [...]string{"selector", "volumeClaimTemplates", "serviceName", "podManagementPolicy"} {
			r.unchanged(spec.at(name), live.Get("spec", name))
		}
	}
}

// setStrategy refuses how pods of a set are replaced.
func (r *report) setStrategy(p place) {
	rolling := p.at("rollingUpdate")
	switch p.text("type") {
	case "":
		r.required(p, "")
	case "OnDelete":
		if rolling.is() {
			r.invalidAs(rolling, partition{rolling.Get("partition").Int(), rolling.Get("maxUnavailable").ToAny()},
				"only allowed for updateStrategy 'RollingUpdate'")
		}
	case "RollingUpdate":
		r.natural(rolling.at("partition"))
		if unavailable := rolling.at("maxUnavailable"); unavailable.is() {
			r.share(unavailable)
			if amount(unavailable.Value) == 0 {
				r.invalid(unavailable, "cannot be 0")
			}
			r.notAll(unavailable)
		}
	default:
		r.invalidAs(p, strategy{p.text("type"), rolling.ToAny()}, "must be 'RollingUpdate' or 'OnDelete'")
	}
}

// partition is how a rolling update of a set is shown.
type partition struct {
	Partition      int64
	MaxUnavailable any
}
