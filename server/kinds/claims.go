package kinds

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
)

// Claims of devices. A claim asks for devices by classes and selectors, and a template makes claims for pods. The errors come partly from
// functions and partly from tags, hence the two kinds of calls: r.required and r.later.

// validateDeviceClaim validates a ResourceClaim.
//
// The spec of a claim cannot change, so an update checks nothing else of it.
func validateDeviceClaim(r *report, object place, live value.Value) {
	spec := object.at("spec")
	if isSet(live) {
		r.unchangedLater(spec, live.Get("spec"))
		return
	}
	r.deviceClaim(spec.at("devices"))
}

// validateClaimStatus validates the status of a ResourceClaim.
//
// A claim is reserved for its consumers only once devices are allocated, and the allocation stays as it is.
func validateClaimStatus(r *report, object place, live value.Value) {
	status := object.at("status")
	reserved, allocation := status.at("reservedFor"), status.at("allocation")
	for i := range reserved.indexes() {
		consumer := reserved.item(i)
		for _, name := range [...]string{"resource", "name", "uid"} {
			r.present(consumer.at(name))
		}
	}
	if was := live.Get("status", "allocation"); isSet(was) && allocation.is() && !r.same(allocation, was) {
		r.laterInvalid(allocation, nil, "field cannot be modified once set")
	}
	r.deviceStatuses(status.at("devices"), allocation.Value, live.Get("status", "allocation"))
	if reserved.Len() > 0 && !allocation.is() {
		r.forbidden(reserved, "may not be specified when `allocated` is not set")
	}
}

// validateDeviceTemplate validates a ResourceClaimTemplate.
func validateDeviceTemplate(r *report, object place, live value.Value) {
	spec := object.at("spec")
	w := volumeWalk{report: r}
	w.claimMetadata(spec.at("metadata"))
	of := spec.at("spec")
	r.deviceClaim(of.at("devices"))
	if isSet(live) {
		r.unchanged(spec, live.Get("spec"))
	}
}

// deviceClaim validates which devices are asked for.
//
// A constraint names one attribute that the devices have in common, or that tells them apart.
func (r *report) deviceClaim(p place) {
	requests, constraints, configs := p.at("requests"), p.at("constraints"), p.at("config")
	for i := range requests.indexes() {
		r.deviceRequest(requests.item(i))
	}
	for i := range constraints.indexes() {
		c := constraints.item(i)
		r.requestNames(c.at("requests"), requests.Value)
		match, distinct := c.at("matchAttribute"), c.at("distinctAttribute")
		if !match.is() && !distinct.is() {
			r.required(c, `exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set`)
		}
		for _, name := range [...]place{match, distinct} {
			if name.is() {
				r.qualifiedLater(name)
			}
		}
	}
	for i := range configs.indexes() {
		c := configs.item(i)
		r.requestNames(c.at("requests"), requests.Value)
		r.deviceConfig(c)
	}
}

// deviceRequest validates a request, which is for a device or for the first of some that is there.
func (r *report) deviceRequest(p place) {
	name, first, exactly := p.at("name"), p.at("firstAvailable"), p.at("exactly")
	r.invalidAs(name, name.Str(), validation.IsDNS1123Label(name.Str())...)
	one := first.Len() > 0
	switch {
	case !one && !exactly.is():
		r.required(p, "exactly one of `exactly` or `firstAvailable` is required")
	case one && exactly.is():
		r.invalidAs(p, nil, "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set")
	case exactly.is():
		if class := exactly.at("deviceClassName"); r.present(class) {
			r.subdomain(class)
		}
		r.exactRequest(exactly)
	default:
		for i := range first.indexes() {
			name := first.item(i).at("name")
			r.invalidAs(name, name.Str(), validation.IsDNS1123Label(name.Str())...)
			r.exactRequest(first.item(i))
		}
	}
	r.declaredRequest(exactly)
	for i := range first.indexes() { // which are declared to be valid, beside an exact request too
		r.subdomainLater(first.item(i).at("deviceClassName"))
		r.declaredRequest(first.item(i))
	}
}

// exactRequest validates a request for devices of a class.
func (r *report) exactRequest(p place) {
	r.deviceSelectors(p.at("selectors"), false)
	mode, count := p.at("allocationMode"), p.at("count")
	switch mode.Str() {
	case "All":
		if count.Int() != 0 {
			r.invalid(count, "must not be specified when allocationMode is 'All'")
		}
	case "ExactCount":
		if count.Int() <= 0 {
			r.invalidAs(count, count.Int(), "must be greater than zero")
		}
	}
	tolerations := p.at("tolerations")
	for i := range tolerations.indexes() {
		t := tolerations.item(i)
		switch v := t.at("value"); t.text("operator") {
		case "Exists":
			if v.Str() != "" {
				r.invalid(v, "must be empty for operator `Exists`")
			}
		case "Equal":
			r.invalidAs(v, v.Str(), validation.IsValidLabelValue(v.Str())...)
		}
	}
}

// declaredRequest validates what the type of a request declares, beside its class.
func (r *report) declaredRequest(request place) {
	if mode := request.at("allocationMode"); mode.Str() != "" {
		r.amongLater(mode, "All", "ExactCount")
	}
	p := request.at("tolerations")
	for i := range p.indexes() {
		t := p.item(i)
		if key := t.at("key"); key.Str() != "" {
			for _, detail := range validation.IsQualifiedName(key.Str()) {
				r.laterInvalid(key, key.Str(), detail)
			}
		}
		r.amongLater(t.at("operator"), "Equal", "Exists")
		if effect := t.at("effect"); effect.Str() != "" {
			r.amongLater(effect, taintEffects...)
		}
	}
}

// taintEffects are what the taint of a device does.
var taintEffects = []string{"NoExecute", "NoSchedule", "None"}

// amongLater is onlyAmong for what is told after the rest.
func (r *report) amongLater(p place, values ...string) {
	if !slices.Contains(values, p.Str()) {
		r.last = append(r.last, field.NotSupported(p.path(), Enumeration(p.Str()), values))
	}
}

// subdomainLater is subdomain for what is told after the rest, and required.
func (r *report) subdomainLater(p place) {
	if p.Str() == "" {
		r.later(p, "")
		return
	}
	for _, detail := range validation.IsDNS1123Subdomain(p.Str()) {
		r.laterInvalid(p, p.Str(), detail)
	}
}

// deviceSelectors validates expressions that devices have to meet. Stored expressions were valid once.
func (r *report) deviceSelectors(p place, stored bool) {
	e := expressions{report: r}
	for i := range p.indexes() {
		if cel := p.item(i).at("cel"); !cel.is() {
			r.required(cel, "")
		} else if !stored {
			e.compile(cel.at("expression"), Selector, "")
		}
	}
}

// deviceConfig validates parameters for a driver.
func (r *report) deviceConfig(p place) {
	opaque := p.at("opaque")
	if !opaque.is() {
		r.required(opaque, "")
		return
	}
	if driver := opaque.at("driver"); driver.Str() == "" {
		r.later(driver, "")
	} else {
		if len(driver.Str()) > longestDriver {
			r.last = append(r.last, field.TooLongCharacters(driver.path(), driver.Str(), longestDriver))
		}
		//lint:ignore SA1019 kube-apiserver validates the names of drivers with this rule
		for _, detail := range content.IsDNS1123SubdomainCaseless(driver.Str()) {
			r.laterInvalid(driver, driver.Str(), detail)
		}
	}
	switch parameters := opaque.at("parameters"); {
	case !parameters.is():
		r.required(parameters, "")
	case parameters.Kind() != value.KindObject:
		r.invalidAs(parameters, "<value omitted>", "must be a valid JSON object")
	}
}

// requestNames validates references to requests of a claim, or to their alternatives.
//
// "gpu" names a request, and "gpu/large" one of its alternatives.
func (r *report) requestNames(p place, requests value.Value) {
	const detail = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
	for i := range p.indexes() {
		ref := p.item(i)
		parts := strings.Split(ref.Str(), "/")
		if len(parts) > 2 {
			r.invalid(ref, detail)
			continue
		}
		for _, part := range parts {
			r.invalidAs(ref, part, validation.IsDNS1123Label(part)...)
		}
		if !hasRequest(requests, parts) {
			r.invalid(ref, detail)
		}
	}
}

// hasRequest reports whether a claim has a request with a name, or an alternative of it.
func hasRequest(requests value.Value, parts []string) bool {
	for request := range requests.Items() {
		if request.Get("name").Str() != parts[0] {
			continue
		}
		if len(parts) == 1 {
			return true
		}
		for sub := range request.Get("firstAvailable").Items() {
			if sub.Get("name").Str() == parts[1] {
				return true
			}
		}
	}
	return false
}

// qualifiedLater validates the name of an attribute with its domain.
func (r *report) qualifiedLater(p place) {
	domain, id, ok := strings.Cut(p.Str(), "/")
	if !ok {
		domain, id = "", p.Str()
	}
	if ok && domain == "" {
		r.laterInvalid(p, "", "prefix must not be empty")
	} else if ok {
		if len(domain) > longestDriver {
			r.last = append(r.last, field.TooLong(p.path(), "", longestDriver))
		}
		for _, detail := range validation.IsDNS1123Subdomain(domain) {
			r.laterInvalid(p, domain, "prefix: "+detail)
		}
	}
	if ok && id == "" {
		r.laterInvalid(p, "", "name must not be empty")
	} else if !strings.Contains(id, "/") { // a name with more slashes is not read
		if len(id) > longestAttribute {
			r.last = append(r.last, field.TooLong(p.path(), "", longestAttribute))
		}
		for _, detail := range content.IsCIdentifier(id) {
			r.laterInvalid(p, id, detail)
		}
	}
	if !ok {
		r.laterInvalid(p, p.Str(), "a fully qualified name must be a domain and a name separated by a slash")
	}
}

// validateDeviceClass validates a DeviceClass.
func validateDeviceClass(r *report, object place, live value.Value) {
	spec := object.at("spec")
	if name := spec.at("extendedResourceName"); name.is() {
		r.extendedLater(name)
	}
	selectors := spec.at("selectors")
	r.deviceSelectors(selectors, isSet(live) && r.same(selectors, live.Get("spec", "selectors")))
	configs := spec.at("config")
	for i := range configs.indexes() {
		r.deviceConfig(configs.item(i))
	}
}

// extendedLater validates the name of a resource that devices stand for. The name must also be valid in a quota.
func (r *report) extendedLater(p place) {
	const domain, quota = "kubernetes.io/", "requests."
	name := p.Str()
	switch {
	case !strings.Contains(name, "/"):
		r.laterInvalid(p, name, "a name must be a domain-prefixed path, such as 'example.com/my-prop'")
	case strings.Contains(name, domain):
		r.laterInvalid(p, name, `must not have "`+domain+`" domain`)
	}
	if strings.HasPrefix(name, quota) {
		r.laterInvalid(p, name, `must not have "`+quota+`" prefix`)
	}
	for _, detail := range validation.IsQualifiedName(quota + name) {
		r.laterInvalid(p, name, detail)
	}
}
