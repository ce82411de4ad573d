package devices

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/kinds/pods"
	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// Claims of devices. A claim asks for devices by classes and selectors, and a template makes claims for pods.

// ValidateClaim validates a ResourceClaim.
//
// The spec of a claim cannot change, so an update checks nothing else of it.
func ValidateClaim(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	if walk.IsSet(live) {
		r.UnchangedLater(spec, live.Get("spec"))
		return
	}
	validateAdminAccess(r, object, spec.At("devices").At("requests"), "exactly")
	validateClaimSpec(r, spec.At("devices"))
}

// validateAdminAccess refuses devices with admin access for the first of a list that has it, unless the namespace of the object is for admins. from
// is the member of an item that says so, "" for the item itself; the error does not mention it.
func validateAdminAccess(r *walk.Report, object, list walk.Place, from string) {
	const label = "resource.kubernetes.io/admin-access"
	if r.Namespace == nil {
		return
	}
	for i := range list.Indexes() {
		of := list.Item(i)
		if from != "" {
			of = of.Get(from)
		}
		if access := list.Index(i).At("adminAccess").WithValue(of.Get("adminAccess")); access.Bool() {
			namespace, err := r.Namespace(list.Context(), object.Get("metadata", "namespace").Str())
			switch {
			case err != nil:
				r.First = append(r.First, field.InternalError(access.Path(), fmt.Errorf("could not retrieve namespace to verify admin access: %w", err)))
			case namespace.Get("metadata", "labels", label).Str() != "true":
				r.First = append(r.First, field.Forbidden(access.Path(), "admin access to devices requires the `"+label+": true` label on the containing namespace"))
			}
			return
		}
	}
}

// ValidateClaimStatus validates the status of a ResourceClaim.
//
// A claim is reserved for its consumers only once devices are allocated, and the allocation stays as it is.
func ValidateClaimStatus(r *walk.Report, object walk.Place, live value.Value) {
	status, was := object.At("status"), live.Get("status")
	reserved, allocation := status.At("reservedFor"), status.At("allocation")
	if !slices.ContainsFunc(slices.Collect(was.Get("allocation", "devices", "results").Items()), func(v value.Value) bool { return v.Get("adminAccess").Bool() }) {
		validateAdminAccess(r, object, allocation.At("devices").At("results"), "")
	}
	isNew := allocation.IsSet() && !walk.IsSet(was.Get("allocation"))
	switch {
	case isNew:
		validateDeclaredAllocation(r, allocation.At("devices"))
	case allocation.IsSet() && !r.Same(allocation, was.Get("allocation")):
		r.InvalidLater(allocation, nil, "field cannot be modified once set")
	}
	if !r.Same(reserved, was.Get("reservedFor")) {
		onceLater(r, reserved, mostConsumers, keyOf("uid"), func(consumer walk.Place) {
			for _, name := range [...]string{"resource", "name", "uid"} {
				r.Present(consumer.At(name))
			}
		})
	}
	validateDeviceStatuses(r, status.At("devices"), was.Get("devices"), allocation.Value, was.Get("allocation"))
	switch {
	case reserved.Len() == 0:
	case !allocation.IsSet():
		r.Forbidden(reserved, "may not be specified when `allocated` is not set")
	case object.At("metadata").At("deletionTimestamp").IsSet() && hasMore(reserved.Value, was.Get("reservedFor")):
		r.Forbidden(reserved, "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set")
	}
	if isNew {
		validateAllocation(r, allocation, object.Get("spec", "devices", "requests"))
	}
}

// hasMore reports whether a list has an item that another list lacks. Both are short.
func hasMore(list, than value.Value) bool {
	others := slices.Collect(than.Items())
	for item := range list.Items() {
		if !slices.ContainsFunc(others, item.Equal) {
			return true
		}
	}
	return false
}

// validateAllocation validates which devices a claim got, given what it asked for.
func validateAllocation(r *walk.Report, p walk.Place, requests value.Value) {
	devices := p.At("devices")
	results, configs := few(devices.At("results"), mostInClaim), few(devices.At("config"), 2*mostInClaim)
	for i := range results.Indexes() {
		result := results.Index(i)
		device := result.At("device")
		validateRequestName(r, result.At("request"), requests)
		r.InvalidAs(device, device.Str(), validation.IsDNS1123Label(device.Str())...)
		validateBindings(r, result.At("bindingConditions"), result.At("bindingFailureConditions"))
		validateTolerationValues(r, result.At("tolerations"))
	}
	for i := range configs.Indexes() {
		c := configs.Index(i)
		refs := few(c.At("requests"), mostInClaim)
		for i := range refs.Indexes() {
			validateRequestName(r, refs.Index(i), requests)
		}
		validateDeviceConfig(r, c, false)
	}
	if selector := p.At("nodeSelector"); selector.IsSet() {
		pods.ValidateNodeSelector(r, selector)
	}
}

// validateDeclaredAllocation validates what the types of an allocation declare.
func validateDeclaredAllocation(r *walk.Report, devices walk.Place) {
	results, configs := devices.At("results"), devices.At("config")
	for i := range atMostLater(r, results, mostInClaim).Indexes() {
		result := results.Index(i)
		validateDriverLater(r, result)
		validatePoolLater(r, result.At("pool"))
		validateDeclaredTolerations(r, result.At("tolerations"))
		for _, name := range [...]string{"bindingConditions", "bindingFailureConditions"} {
			atMostLater(r, result.At(name), mostBindings)
		}
		validateUuidLater(r, result.At("shareID"))
	}
	for i := range atMostLater(r, configs, 2*mostInClaim).Indexes() {
		c := configs.Index(i)
		if source := c.At("source"); source.Str() == "" {
			r.RequiredLater(source, "")
		} else {
			r.AmongLater(source, "FromClaim", "FromClass")
		}
		onceLater(r, c.At("requests"), mostInClaim, itself, func(walk.Place) {})
		validateOpaqueDriver(r, c.At("opaque"))
	}
}

// validatePoolLater is validatePoolName for what is told after the rest.
func validatePoolLater(r *walk.Report, p walk.Place) {
	before := len(r.Errs)
	if p.Str() == "" {
		r.RequiredLater(p, "")
		return
	}
	validatePoolName(r, p)
	r.AllLater(before)
}

// validateUuidLater validates the identity of a share of a device.
func validateUuidLater(r *walk.Report, p walk.Place) {
	if p.IsSet() && !lowerUUID().MatchString(p.Str()) {
		r.InvalidLater(p, p.Str(), "must be a lowercase UUID in 8-4-4-4-12 format")
	}
}

// Bounds of claims.
const (
	mostInClaim   = 32 // requests, constraints, configurations, selectors and results
	mostInstead   = 8  // requests of which the first is taken that can be
	mostConsumers = 256
	mostBindings  = 4
	longestRaw    = 10 << 10 // bytes of JSON for a driver, or from one
	noLimit       = -1
)

// few returns a list, or none if it is too long: its items are not validated then.
func few(p walk.Place, most int) walk.Place {
	if most >= 0 && p.Len() > most {
		return p.WithValue(value.Value{})
	}
	return p
}

// atMostLater refuses a list that is too long after the rest, and returns it as few does.
func atMostLater(r *walk.Report, p walk.Place, most int) walk.Place {
	if most >= 0 && p.Len() > most {
		r.Later(field.TooMany(p.Path(), p.Len(), most))
	}
	return few(p, most)
}

// onceLater refuses a list that is too long, or items with the same key, after the rest. It validates the items of a list that is not too long.
func onceLater(r *walk.Report, p walk.Place, most int, key func(value.Value) any, validate func(walk.Place)) {
	items := atMostLater(r, p, most)
	each := func() {
		for i := range items.Indexes() {
			validate(items.Index(i))
		}
	}
	isTagged := !r.Before(walk.TaggedSince)
	if !isTagged { // code validates all items first, and shows the key
		each()
	}
	met := map[any]bool{}
	for i := range items.Indexes() {
		item, k := items.Index(i), key(items.Item(i))
		switch {
		case !met[k]:
			met[k] = true
		case isTagged:
			r.Later(field.Duplicate(item.Path(), r.Ordered(item)))
		default:
			r.Add(field.Duplicate(item.Path(), k))
		}
	}
	if isTagged {
		each()
	}
}

// keyOf returns the key of items that are told apart by a member.
func keyOf(name string) func(value.Value) any {
	return func(v value.Value) any { return v.Get(name).Str() }
}

// itself is the key of items that are texts.
func itself(v value.Value) any { return v.Str() }

// ValidateTemplate validates a ResourceClaimTemplate.
func ValidateTemplate(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	of := spec.At("spec")
	if !walk.IsSet(live) { // the error has the path of a claim
		validateAdminAccess(r, object, spec.At("devices").At("requests").WithValue(of.Get("devices", "requests")), "exactly")
	}
	pods.ValidateClaimMetadata(r, spec.At("metadata"))
	validateClaimSpec(r, of.At("devices"))
	if walk.IsSet(live) {
		r.Unchanged(spec, live.Get("spec"))
	}
}

// distinctSince is the minor release since which constraints of claims may have a distinctAttribute.
const distinctSince = 36

// validateClaimSpec validates which devices are asked for.
//
// A constraint names one attribute that the devices have in common, or that tells them apart.
func validateClaimSpec(r *walk.Report, p walk.Place) {
	requests, constraints, configs := p.At("requests"), p.At("constraints"), p.At("config")
	onceLater(r, requests, mostInClaim, keyOf("name"), func(request walk.Place) { validateDeviceRequest(r, request) })
	for i := range atMostLater(r, constraints, mostInClaim).Indexes() {
		c := constraints.Index(i)
		validateRequestNames(r, c.At("requests"), requests.Value)
		match, distinct := c.At("matchAttribute"), c.At("distinctAttribute")
		switch {
		case match.IsSet() || distinct.IsSet():
		case r.Before(distinctSince):
			r.Required(match, "")
		default:
			r.Required(c, `exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set`)
		}
		for _, name := range [...]walk.Place{match, distinct} {
			if name.IsSet() {
				validateQualifiedLater(r, name)
			}
		}
	}
	for i := range atMostLater(r, configs, mostInClaim).Indexes() {
		c := configs.Index(i)
		validateRequestNames(r, c.At("requests"), requests.Value)
		validateDeviceConfig(r, c, false)
		validateOpaqueDriver(r, c.At("opaque"))
	}
}

// validateDeviceRequest validates a request, which is for a device or for the first of some that is there.
func validateDeviceRequest(r *walk.Report, p walk.Place) {
	name, first, exactly := p.At("name"), p.At("firstAvailable"), p.At("exactly")
	r.InvalidAs(name, name.Str(), validation.IsDNS1123Label(name.Str())...)
	one := first.Len() > 0
	switch {
	case !one && !exactly.IsSet():
		r.Required(p, "exactly one of `exactly` or `firstAvailable` is required")
	case one && exactly.IsSet():
		r.InvalidAs(p, nil, "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set")
	case exactly.IsSet():
		if class := exactly.At("deviceClassName"); r.Present(class) {
			r.Subdomain(class)
		}
		validateExactRequest(r, exactly)
	default:
		for i := range few(first, mostInstead).Indexes() {
			name := first.Index(i).At("name")
			r.InvalidAs(name, name.Str(), validation.IsDNS1123Label(name.Str())...)
			validateExactRequest(r, first.Index(i))
		}
	}
	if one && exactly.IsSet() && r.Before(walk.TaggedSince) {
		return
	}
	validateDeclaredRequest(r, exactly)
	onceLater(r, first, mostInstead, keyOf("name"), func(sub walk.Place) { // which are declared to be valid, beside an exact request too
		r.SubdomainLater(sub.At("deviceClassName"))
		validateDeclaredRequest(r, sub)
	})
}

// validateExactRequest validates a request for devices of a class.
func validateExactRequest(r *walk.Report, p walk.Place) {
	validateDeviceSelectors(r, p.At("selectors"), false)
	mode, count := p.At("allocationMode"), p.At("count")
	switch mode.Str() {
	case "All":
		if count.Int() != 0 {
			r.Invalid(count, "must not be specified when allocationMode is 'All'")
		}
	case "ExactCount":
		if count.Int() <= 0 {
			r.InvalidAs(count, count.Int(), "must be greater than zero")
		}
	case "": // only resource.k8s.io/v1beta1 sets no default, if there is no class
		r.Add(field.NotSupported(mode.Path(), "", []string{"All", "ExactCount"}))
	}
	validateTolerationValues(r, p.At("tolerations"))
}

// validateTolerationValues validates the values of tolerations of devices.
func validateTolerationValues(r *walk.Report, p walk.Place) {
	for i := range p.Indexes() {
		t := p.Index(i)
		switch v := t.At("value"); t.Text("operator") {
		case "Exists":
			if v.Str() != "" {
				r.Invalid(v, "must be empty for operator `Exists`")
			}
		case "Equal":
			r.InvalidAs(v, v.Str(), validation.IsValidLabelValue(v.Str())...)
		}
	}
}

// validateDeclaredRequest validates what the type of a request declares, beside its class.
func validateDeclaredRequest(r *walk.Report, request walk.Place) {
	atMostLater(r, request.At("selectors"), mostInClaim)
	if mode := request.At("allocationMode"); mode.Str() != "" {
		r.AmongLater(mode, "All", "ExactCount")
	}
	validateDeclaredTolerations(r, request.At("tolerations"))
}

// validateDeclaredTolerations validates what the type of a toleration declares.
func validateDeclaredTolerations(r *walk.Report, p walk.Place) {
	for i := range p.Indexes() {
		t := p.Index(i)
		if key := t.At("key"); key.Str() != "" {
			for _, detail := range validation.IsQualifiedName(key.Str()) {
				r.InvalidLater(key, key.Str(), detail)
			}
		}
		if operator := t.At("operator"); operator.Str() == "" {
			r.RequiredLater(operator, "")
		} else {
			r.AmongLater(operator, "Equal", "Exists")
		}
		if effect := t.At("effect"); effect.Str() != "" {
			r.AmongLater(effect, taintEffects...)
		}
	}
}

// taintEffects are what the taint of a device does.
var taintEffects = []string{"NoExecute", "NoSchedule", "None"}

// validateDeviceSelectors validates expressions that devices have to meet. Stored expressions were valid once.
func validateDeviceSelectors(r *walk.Report, p walk.Place, stored bool) {
	e := walk.Expressions{Report: r}
	for i := range few(p, mostInClaim).Indexes() {
		if cel := p.Index(i).At("cel"); !cel.IsSet() {
			r.Required(cel, "")
		} else if !stored {
			e.Compile(cel.At("expression"), walk.Selector, "")
		}
	}
}

// validateDeviceConfig validates parameters for a driver, which may be stored already.
func validateDeviceConfig(r *walk.Report, p walk.Place, stored bool) {
	opaque := p.At("opaque")
	if !opaque.IsSet() {
		r.Required(opaque, "")
		return
	}
	if r.Before(walk.TaggedSince) {
		r.DriverName(opaque.At("driver"))
	}
	if parameters := opaque.At("parameters"); parameters.IsSet() {
		validateRaw(r, parameters, stored)
	} else {
		r.Required(parameters, "")
	}
}

// validateRaw refuses JSON that is too long, or no object. What is stored may be too long. The length is that of the text without spaces.
func validateRaw(r *walk.Report, p walk.Place, stored bool) {
	switch {
	case !stored && len(p.String()) > longestRaw:
		r.Add(field.TooLong(p.Path(), "", longestRaw))
	case p.Kind() != value.KindObject:
		r.InvalidAs(p, "<value omitted>", "must be a valid JSON object")
	}
}

// validateDriverLater validates the name of a driver in an object, which may be absent.
func validateDriverLater(r *walk.Report, of walk.Place) {
	if of.IsSet() {
		r.DriverNameLater(of.At("driver"))
	}
}

// validateOpaqueDriver validates the driver of a configuration by its tags: see validateDeviceConfig.
func validateOpaqueDriver(r *walk.Report, opaque walk.Place) {
	if !r.Before(walk.TaggedSince) {
		validateDriverLater(r, opaque)
	}
}

// validateRequestNames validates references to requests of a claim, or to their alternatives.
//
// "gpu" names a request, and "gpu/large" one of its alternatives.
func validateRequestNames(r *walk.Report, p walk.Place, requests value.Value) {
	onceLater(r, p, mostInClaim, itself, func(ref walk.Place) { validateRequestName(r, ref, requests) })
}

// validateRequestName validates a reference to a request.
func validateRequestName(r *walk.Report, ref walk.Place, requests value.Value) {
	const detail = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
	parts := strings.Split(ref.Str(), "/")
	if len(parts) > 2 {
		r.Invalid(ref, detail)
		return
	}
	for _, part := range parts {
		r.InvalidAs(ref, part, validation.IsDNS1123Label(part)...)
	}
	if !hasRequest(requests, parts) {
		r.Invalid(ref, detail)
	}
}

// hasRequest reports whether a claim has a request with a name, or an alternative of it. Of several requests with the name, the last one counts.
func hasRequest(requests value.Value, parts []string) bool {
	var named value.Value
	for request := range requests.Items() {
		if request.Get("name").Str() == parts[0] {
			named = request
		}
	}
	if named.IsAbsent() || len(parts) == 1 {
		return !named.IsAbsent()
	}
	for sub := range named.Get("firstAvailable").Items() {
		if sub.Get("name").Str() == parts[1] {
			return true
		}
	}
	return false
}

// validateQualifiedLater validates the name of an attribute with its domain. A name with several slashes is not read.
func validateQualifiedLater(r *walk.Report, p walk.Place) {
	const noDomain = "a fully qualified name must be a domain and a name separated by a slash"
	domain, id, ok := strings.Cut(p.Str(), "/")
	if r.Before(walk.TaggedSince) {
		if validateAttributeName(r, p, p.Str()); !ok {
			r.Invalid(p, noDomain)
		}
		return
	}
	if strings.Contains(id, "/") {
		return
	}
	if !ok {
		domain, id = "", p.Str()
	}
	if ok && domain == "" {
		r.InvalidLater(p, "", "prefix must not be empty")
	} else if ok {
		if len(domain) > walk.LongestDriver {
			r.Later(field.TooLong(p.Path(), "", walk.LongestDriver))
		}
		for _, detail := range validation.IsDNS1123Subdomain(domain) {
			r.InvalidLater(p, domain, "prefix: "+detail)
		}
	}
	if ok && id == "" {
		r.InvalidLater(p, "", "name must not be empty")
	} else {
		if len(id) > longestAttribute {
			r.Later(field.TooLong(p.Path(), "", longestAttribute))
		}
		for _, detail := range content.IsCIdentifier(id) {
			r.InvalidLater(p, id, detail)
		}
	}
	if !ok {
		r.InvalidLater(p, p.Str(), noDomain)
	}
}

// ValidateClass validates a DeviceClass.
func ValidateClass(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	selectors := spec.At("selectors")
	atMostLater(r, selectors, mostInClaim)
	validateDeviceSelectors(r, selectors, walk.IsSet(live) && r.Same(selectors, live.Get("spec", "selectors")))
	configs := spec.At("config")
	stored := walk.IsSet(live) && r.Same(configs, live.Get("spec", "config"))
	for i := range atMostLater(r, configs, mostInClaim).Indexes() {
		validateDeviceConfig(r, configs.Index(i), stored)
		validateOpaqueDriver(r, configs.Index(i).At("opaque"))
	}
	if name := spec.At("extendedResourceName"); name.IsSet() {
		validateExtendedLater(r, name)
	}
}

// validateExtendedLater validates the name of a resource that devices stand for. The name must also be valid in a quota.
func validateExtendedLater(r *walk.Report, p walk.Place) {
	const domain, quota = "kubernetes.io/", "requests."
	name := p.Str()
	switch {
	case !strings.Contains(name, "/"):
		r.InvalidLater(p, name, "a name must be a domain-prefixed path, such as 'example.com/my-prop'")
	case strings.Contains(name, domain):
		r.InvalidLater(p, name, `must not have "`+domain+`" domain`)
	}
	if strings.HasPrefix(name, quota) {
		r.InvalidLater(p, name, `must not have "`+quota+`" prefix`)
	}
	for _, detail := range validation.IsQualifiedName(quota + name) {
		r.InvalidLater(p, name, detail)
	}
}
