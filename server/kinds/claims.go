package kinds

import (
	"fmt"
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
	r.adminAccess(object, spec.at("devices").at("requests"), "exactly")
	r.deviceClaim(spec.at("devices"))
}

// adminAccess refuses devices with admin access for the first of a list that has it, unless the namespace of the object is for admins. from
// is the member of an item that says so, "" for the item itself; the error does not mention it.
func (r *report) adminAccess(object, list place, from string) {
	const label = "resource.kubernetes.io/admin-access"
	if r.namespace == nil {
		return
	}
	for i := range list.indexes() {
		of := list.Item(i)
		if from != "" {
			of = of.Get(from)
		}
		if access := list.item(i).at("adminAccess").with(of.Get("adminAccess")); access.Bool() {
			namespace, err := r.namespace(list.context(), object.Get("metadata", "namespace").Str())
			switch {
			case err != nil:
				r.add(field.InternalError(access.path(), fmt.Errorf("could not retrieve namespace to verify admin access: %w", err)))
			case namespace.Get("metadata", "labels", label).Str() != "true":
				r.forbidden(access, "admin access to devices requires the `"+label+": true` label on the containing namespace")
			}
			return
		}
	}
}

// validateClaimStatus validates the status of a ResourceClaim.
//
// A claim is reserved for its consumers only once devices are allocated, and the allocation stays as it is.
func validateClaimStatus(r *report, object place, live value.Value) {
	status, was := object.at("status"), live.Get("status")
	reserved, allocation := status.at("reservedFor"), status.at("allocation")
	if !slices.ContainsFunc(slices.Collect(was.Get("allocation", "devices", "results").Items()), func(v value.Value) bool { return v.Get("adminAccess").Bool() }) {
		r.adminAccess(object, allocation.at("devices").at("results"), "")
	}
	isNew := allocation.is() && !isSet(was.Get("allocation"))
	switch {
	case isNew:
		r.declaredAllocation(allocation.at("devices"))
	case allocation.is() && !r.same(allocation, was.Get("allocation")):
		r.laterInvalid(allocation, nil, "field cannot be modified once set")
	}
	if !r.same(reserved, was.Get("reservedFor")) {
		r.onceLater(reserved, mostConsumers, func(v value.Value) string { return v.Get("uid").Str() })
	}
	for i := range few(reserved, mostConsumers).indexes() {
		consumer := reserved.item(i)
		for _, name := range [...]string{"resource", "name", "uid"} {
			r.present(consumer.at(name))
		}
	}
	devices := status.at("devices")
	if !r.same(devices, was.Get("devices")) {
		r.onceLater(devices, noLimit, func(v value.Value) string { return fmt.Sprint(sharedDeviceOf(v)) })
	}
	r.deviceStatuses(devices, allocation.Value, was.Get("allocation"))
	if reserved.Len() > 0 && !allocation.is() {
		r.forbidden(reserved, "may not be specified when `allocated` is not set")
	}
	if isNew {
		r.allocation(allocation, object.Get("spec", "devices", "requests"))
	}
}

// allocation validates which devices a claim got, given what it asked for.
func (r *report) allocation(p place, requests value.Value) {
	devices := p.at("devices")
	results, configs := few(devices.at("results"), mostInClaim), few(devices.at("config"), 2*mostInClaim)
	for i := range results.indexes() {
		result := results.item(i)
		device := result.at("device")
		r.requestName(result.at("request"), requests)
		r.invalidAs(device, device.Str(), validation.IsDNS1123Label(device.Str())...)
		r.bindings(result.at("bindingConditions"), result.at("bindingFailureConditions"))
		r.tolerationValues(result.at("tolerations"))
	}
	for i := range configs.indexes() {
		c := configs.item(i)
		r.requestNames(c.at("requests"), requests)
		r.deviceConfig(c)
	}
	if selector := p.at("nodeSelector"); selector.is() {
		r.nodeSelector(selector)
	}
}

// declaredAllocation validates what the types of an allocation declare.
func (r *report) declaredAllocation(devices place) {
	results, configs := devices.at("results"), devices.at("config")
	for i := range r.atMostLater(results, mostInClaim).indexes() {
		result := results.item(i)
		r.driverLater(result)
		r.poolLater(result.at("pool"))
		r.declaredTolerations(result.at("tolerations"))
		for _, name := range [...]string{"bindingConditions", "bindingFailureConditions"} {
			r.atMostLater(result.at(name), mostBindings)
		}
		r.uuidLater(result.at("shareID"))
	}
	for i := range r.atMostLater(configs, 2*mostInClaim).indexes() {
		c := configs.item(i)
		if source := c.at("source"); source.Str() == "" {
			r.later(source, "")
		} else {
			r.amongLater(source, "FromClaim", "FromClass")
		}
		r.onceLater(c.at("requests"), mostInClaim, value.Value.Str)
		r.driverLater(c.at("opaque"))
	}
}

// poolLater is poolName for what is told after the rest.
func (r *report) poolLater(p place) {
	before := len(r.errs)
	if p.Str() == "" {
		r.later(p, "")
		return
	}
	r.poolName(p)
	r.last = append(r.last, r.errs[before:]...)
	r.errs = r.errs[:before]
}

// uuidLater validates the identity of a share of a device.
func (r *report) uuidLater(p place) {
	if p.is() && !lowerUUID().MatchString(p.Str()) {
		r.laterInvalid(p, p.Str(), "must be a lowercase UUID in 8-4-4-4-12 format")
	}
}

// Bounds of claims.
const (
	mostInClaim   = 32 // requests, constraints, configurations, selectors and results
	mostInstead   = 8  // requests of which the first is taken that can be
	mostConsumers = 256
	mostBindings  = 4
	noLimit       = -1
)

// few returns a list, or none if it is too long: its items are not validated then.
func few(p place, most int) place {
	if most >= 0 && p.Len() > most {
		return p.with(value.Value{})
	}
	return p
}

// atMostLater refuses a list that is too long after the rest, and returns it as few does.
func (r *report) atMostLater(p place, most int) place {
	if most >= 0 && p.Len() > most {
		r.last = append(r.last, field.TooMany(p.path(), p.Len(), most))
	}
	return few(p, most)
}

// onceLater refuses a list that is too long, or items with the same key, after the rest. It returns the list as few does.
func (r *report) onceLater(p place, most int, key func(value.Value) string) place {
	var met names
	for i := range r.atMostLater(p, most).indexes() {
		if item := p.item(i); !met.add(key(item.Value)) {
			r.last = append(r.last, field.Duplicate(item.path(), r.ordered(item)))
		}
	}
	return few(p, most)
}

// nameOf returns the name of a request.
func nameOf(v value.Value) string { return v.Get("name").Str() }

// validateDeviceTemplate validates a ResourceClaimTemplate.
func validateDeviceTemplate(r *report, object place, live value.Value) {
	spec := object.at("spec")
	of := spec.at("spec")
	if !isSet(live) { // the error has the path of a claim
		r.adminAccess(object, spec.at("devices").at("requests").with(of.Get("devices", "requests")), "exactly")
	}
	r.claimMetadata(spec.at("metadata"))
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
	for i := range r.onceLater(requests, mostInClaim, nameOf).indexes() {
		r.deviceRequest(requests.item(i))
	}
	for i := range r.atMostLater(constraints, mostInClaim).indexes() {
		c := constraints.item(i)
		r.onceLater(c.at("requests"), mostInClaim, value.Value.Str)
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
	for i := range r.atMostLater(configs, mostInClaim).indexes() {
		c := configs.item(i)
		r.onceLater(c.at("requests"), mostInClaim, value.Value.Str)
		r.requestNames(c.at("requests"), requests.Value)
		r.deviceConfig(c)
		r.driverLater(c.at("opaque"))
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
		for i := range few(first, mostInstead).indexes() {
			name := first.item(i).at("name")
			r.invalidAs(name, name.Str(), validation.IsDNS1123Label(name.Str())...)
			r.exactRequest(first.item(i))
		}
	}
	r.declaredRequest(exactly)
	for i := range r.onceLater(first, mostInstead, nameOf).indexes() { // which are declared to be valid, beside an exact request too
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
	r.tolerationValues(p.at("tolerations"))
}

// tolerationValues validates the values of tolerations of devices.
func (r *report) tolerationValues(p place) {
	for i := range p.indexes() {
		t := p.item(i)
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
	r.atMostLater(request.at("selectors"), mostInClaim)
	if mode := request.at("allocationMode"); mode.Str() != "" {
		r.amongLater(mode, "All", "ExactCount")
	}
	r.declaredTolerations(request.at("tolerations"))
}

// declaredTolerations validates what the type of a toleration declares.
func (r *report) declaredTolerations(p place) {
	for i := range p.indexes() {
		t := p.item(i)
		if key := t.at("key"); key.Str() != "" {
			for _, detail := range validation.IsQualifiedName(key.Str()) {
				r.laterInvalid(key, key.Str(), detail)
			}
		}
		if operator := t.at("operator"); operator.Str() == "" {
			r.later(operator, "")
		} else {
			r.amongLater(operator, "Equal", "Exists")
		}
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
	for _, detail := range content.IsDNS1123Subdomain(p.Str()) {
		r.laterInvalid(p, p.Str(), detail)
	}
}

// deviceSelectors validates expressions that devices have to meet. Stored expressions were valid once.
func (r *report) deviceSelectors(p place, stored bool) {
	e := expressions{report: r}
	for i := range few(p, mostInClaim).indexes() {
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
	switch parameters := opaque.at("parameters"); {
	case !parameters.is():
		r.required(parameters, "")
	case parameters.Kind() != value.KindObject:
		r.invalidAs(parameters, "<value omitted>", "must be a valid JSON object")
	}
}

// driverLater validates the name of a driver in an object, which may be absent.
func (r *report) driverLater(of place) {
	p := of.at("driver")
	switch {
	case !of.is():
		return
	case p.Str() == "":
		r.later(p, "")
		return
	}
	if len(p.Str()) > longestDriver {
		r.last = append(r.last, field.TooLongCharacters(p.path(), p.Str(), longestDriver))
	}
	//lint:ignore SA1019 kube-apiserver validates the names of drivers with this rule
	for _, detail := range content.IsDNS1123SubdomainCaseless(p.Str()) {
		r.laterInvalid(p, p.Str(), detail)
	}
}

// requestNames validates references to requests of a claim, or to their alternatives.
//
// "gpu" names a request, and "gpu/large" one of its alternatives.
func (r *report) requestNames(p place, requests value.Value) {
	for i := range few(p, mostInClaim).indexes() {
		r.requestName(p.item(i), requests)
	}
}

// requestName validates a reference to a request.
func (r *report) requestName(ref place, requests value.Value) {
	const detail = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
	parts := strings.Split(ref.Str(), "/")
	if len(parts) > 2 {
		r.invalid(ref, detail)
		return
	}
	for _, part := range parts {
		r.invalidAs(ref, part, validation.IsDNS1123Label(part)...)
	}
	if !hasRequest(requests, parts) {
		r.invalid(ref, detail)
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

// qualifiedLater validates the name of an attribute with its domain. A name with several slashes is not read.
func (r *report) qualifiedLater(p place) {
	domain, id, ok := strings.Cut(p.Str(), "/")
	if strings.Contains(id, "/") {
		return
	}
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
	} else {
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
	selectors := spec.at("selectors")
	r.atMostLater(selectors, mostInClaim)
	r.deviceSelectors(selectors, isSet(live) && r.same(selectors, live.Get("spec", "selectors")))
	configs := spec.at("config")
	for i := range r.atMostLater(configs, mostInClaim).indexes() {
		r.deviceConfig(configs.item(i))
		r.driverLater(configs.item(i).at("opaque"))
	}
	if name := spec.at("extendedResourceName"); name.is() {
		r.extendedLater(name)
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
