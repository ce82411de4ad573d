package kinds

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// validateTaintRule validates a DeviceTaintRule.
func validateTaintRule(r *report, object place, live value.Value) {
	spec := object.at("spec")
	selector, taint := spec.at("deviceSelector"), spec.at("taint")
	if driver := selector.at("driver"); driver.is() {
		r.driverName(driver)
	}
	if pool := selector.at("pool"); pool.is() {
		r.poolName(pool)
	}
	if device := selector.at("device"); device.is() {
		r.label(device)
	}
	key, text, effect := taint.at("key"), taint.at("value"), taint.at("effect")
	r.invalidAs(key, key.Str(), validation.IsQualifiedName(key.Str())...)
	if text.Str() != "" {
		r.invalid(text, validation.IsValidLabelValue(text.Str())...)
	}
	if effect.Str() == "" && (!isSet(live) || live.Get("spec", "taint", "effect").Str() != "") {
		r.later(effect, "")
	}
}

// mostRuleConditions is how many conditions a DeviceTaintRule may have.
const mostRuleConditions = 8

// validateTaintRuleStatus validates the conditions of a DeviceTaintRule.
func validateTaintRuleStatus(r *report, object place, live value.Value) {
	validateConditions(r, object, live)
	if list := object.at("status").at("conditions"); list.Len() > mostRuleConditions {
		r.add(field.TooMany(list.path(), list.Len(), mostRuleConditions))
	}
}

// Names and values of priority classes that are not for users.
const (
	systemPriority = "system-"
	mostOfUsers    = 1_000_000_000
)

// validatePriority validates a PriorityClass.
func validatePriority(r *report, object place, live value.Value) {
	v, policy := object.at("value"), object.at("preemptionPolicy")
	if isSet(live) {
		if v.Int() != live.Get("value").Int() {
			r.forbidden(v, "may not be changed in an update.")
		}
		r.unchanged(policy, live.Get("preemptionPolicy"))
		return
	}
	metadata := object.at("metadata")
	name := metadata.at("name")
	if !strings.HasPrefix(name.Str(), systemPriority) {
		if v.Int() > mostOfUsers {
			r.forbidden(v, fmt.Sprintf("maximum allowed value of a user defined priority is %d", mostOfUsers))
		}
	} else if wrong := systemClass(name.Str(), object); wrong != "" {
		r.forbidden(name, fmt.Sprintf("priority class names with '%s' prefix are reserved for system use only. error: %s", systemPriority, wrong))
	}
	if policy.is() {
		r.among(policy, "PreemptLowerPriority", "Never")
	}
}

// systemClass returns what differs between a class and the class of the system with the same name.
func systemClass(name string, class place) string {
	want, known := map[string]int64{"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}[name]
	switch {
	case !known:
		return name + " is not a known system priority class"
	case class.Get("value").Int() != want:
		return fmt.Sprintf("value of %s PriorityClass must be %d", name, want)
	case class.Get("globalDefault").Bool():
		return fmt.Sprintf("globalDefault of %s PriorityClass must be false", name)
	}
	return ""
}

func taintAdded(s source) string {
	if added := s.Get("spec", "taint", "timeAdded"); added.Kind() == value.KindString {
		return s.since(added)
	}
	return ""
}

// claimState shows what a claim has and waits for.
func claimState(s source) string {
	deleted := !s.Get("metadata", "deletionTimestamp").IsAbsent()
	allocated := s.Get("status", "allocation").Kind() == value.KindObject
	var states []string
	if deleted {
		states = append(states, "deleted")
	}
	switch {
	case allocated && s.Get("status", "reservedFor").Len() > 0:
		states = append(states, "allocated", "reserved")
	case allocated:
		states = append(states, "allocated")
	case !deleted:
		states = append(states, "pending")
	}
	return strings.Join(states, ",")
}

func taintRuleCells() []cell {
	return []cell{
		name, text("spec", "taint", "key"), text("spec", "taint", "value"), text("spec", "taint", "effect"), shown(taintAdded), age,
	}
}

// deviceAdds is what differs for kinds with parameters of drivers.
var deviceAdds = []Allocated{{
	Paths:  []string{"metadata generation"},
	Reason: "parameters that the server keeps as text count as changed, and as owned, when a client writes them with other spaces",
	when:   func(value.Value) bool { return false }, // it is another number, and never added
}}

// longestDriver is how long the name of a driver may be, in bytes.
const longestDriver = 63

// Bounds of ResourceSlices and of the names in them.
const (
	longestAttribute = 32
	longestValue     = 64
	mostDevices      = 128
	mostAdvanced     = 64 // if a device has taints, counters or attributes with lists
	mostOfDevice     = 32
	mostValues       = 48
	mostTaints       = 16
	mostCounters     = 32
	mostSets         = 8 // of counters
)

// validateSlice validates a ResourceSlice.
func validateSlice(r *report, object place, live value.Value) {
	spec, was := object.at("spec"), live.Get("spec")
	driver, pool := spec.at("driver"), spec.at("pool")
	r.driverName(driver)
	r.pool(pool)
	if isSet(live) {
		r.unchanged(pool.at("name"), was.Get("pool", "name"))
		r.unchanged(driver, was.Get("driver"))
		r.unchanged(spec.at("nodeName"), was.Get("nodeName"))
	}
	if set := r.nodesOf(spec, "must be either unset or set to a non-empty string", true); len(set) != 1 {
		const detail = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
		if len(set) == 0 {
			r.required(spec, detail)
		} else {
			r.invalidAs(spec, "{"+strings.Join(set, ", ")+"}", detail+", but multiple fields are set")
		}
	}
	devices, counters := spec.at("devices"), spec.at("sharedCounters")
	if devices.Kind() == value.KindList && counters.Kind() == value.KindList {
		r.invalidAs(spec, "", "only one of `sharedCounters` or `devices` is allowed")
	}
	r.devices(devices, was.Get("devices"), spec.Get("perDeviceNodeSelection").Bool())
	r.sharedCounters(counters)
}

// sharedCounters validates the counters that the devices of a slice share.
func (r *report) sharedCounters(p place) {
	if p.Len() > mostSets {
		r.last = append(r.last, field.TooMany(p.path(), p.Len(), mostSets))
		return
	}
	var met names
	for i := range p.indexes() {
		if set := p.item(i); !met.add(set.text("name")) {
			r.last = append(r.last, field.Duplicate(set.path(), r.ordered(set)))
		}
	}
	for i := range p.indexes() {
		r.counterSet(p.item(i), "name")
	}
}

// pool validates which pool a slice is of.
func (r *report) pool(p place) {
	r.poolName(p.at("name"))
	if count := p.at("resourceSliceCount"); count.Int() <= 0 {
		r.invalidAs(count, count.Int(), "must be greater than zero")
	}
	if generation := p.at("generation"); generation.Int() < 0 {
		r.invalid(generation, "must be greater than or equal to zero")
	}
}

func (r *report) poolName(p place) {
	if !r.present(p) {
		return
	}
	if len(p.Str()) > validation.DNS1123SubdomainMaxLength {
		r.add(field.TooLong(p.path(), "", validation.DNS1123SubdomainMaxLength))
	}
	for part := range strings.SplitSeq(p.Str(), "/") {
		r.invalidAs(p, part, validation.IsDNS1123Subdomain(part)...)
	}
}

// nodesOf validates where the devices of a slice are, or a device, and returns the fields that say so.
func (r *report) nodesOf(p place, empty string, slice bool) []string {
	var set []string
	if name := p.at("nodeName"); name.is() && name.Str() == "" {
		r.invalid(name, empty)
	} else if name.is() {
		set = append(set, "`nodeName`")
		r.invalid(name, validation.IsDNS1123Subdomain(name.Str())...)
	}
	if selector := p.at("nodeSelector"); selector.is() {
		set = append(set, "`nodeSelector`")
		r.nodeSelector(selector)
		if terms := selector.at("nodeSelectorTerms"); slice && terms.Len() != 1 {
			r.invalid(terms, "must have exactly one node selector term")
		}
	}
	flags := []string{"allNodes", "perDeviceNodeSelection"}
	if !slice {
		flags = flags[:1]
	}
	for _, name := range flags {
		if flag := p.at(name); flag.is() && !flag.Bool() {
			r.invalid(flag, "must be either unset or set to true")
		} else if flag.is() {
			set = append(set, "`"+name+"`")
		}
	}
	return set
}

// devices validates the devices of a slice. each is whether each device says where it is.
func (r *report) devices(p place, was value.Value, each bool) {
	most := mostDevices
	if slices.ContainsFunc(slices.Collect(p.Items()), advanced) {
		most = mostAdvanced
	}
	if p.Len() > most {
		r.add(field.TooMany(p.path(), p.Len(), most))
		return
	}
	old := map[string]value.Value{}
	for device := range was.Items() {
		old[device.Get("name").Str()] = device
	}
	for i := range p.indexes() {
		r.device(p.item(i), old[p.Item(i).Get("name").Str()], each)
	}
	var met names
	for i := range p.indexes() {
		if name := p.Item(i).Get("name").Str(); !met.add(name) {
			r.add(field.Duplicate(p.item(i).path(), name))
		}
	}
}

// advanced reports whether a device counts for the lower bound of devices.
func advanced(device value.Value) bool {
	if device.Get("taints").Len() > 0 || device.Get("consumesCounters").Len() > 0 {
		return true
	}
	for _, attribute := range device.Get("attributes").Members() {
		for _, list := range attributeLists {
			if attribute.Get(list).Len() > 0 {
				return true
			}
		}
	}
	return false
}

// attributeLists are the members of an attribute with several values.
var attributeLists = [...]string{"bools", "ints", "strings", "versions"}

// attributeMembers are the members of which an attribute has one.
var attributeMembers = [...]string{"int", "bool", "string", "version", "ints", "bools", "strings", "versions"}

// device validates a device; was is the device of the same name that the slice had.
func (r *report) device(p place, was value.Value, each bool) {
	name, attributes, capacity := p.at("name"), p.at("attributes"), p.at("capacity")
	r.invalidAs(name, name.Str(), validation.IsDNS1123Label(name.Str())...)
	if n := attributes.Len() + capacity.Len(); n > mostOfDevice {
		r.invalidAs(p, n, fmt.Sprintf("the total number of attributes and capacities must not exceed %d", mostOfDevice))
	}
	values := 0
	for _, attribute := range attributes.Members() {
		n := 0
		for _, list := range attributeLists {
			n += attribute.Get(list).Len()
		}
		values += max(n, 1)
	}
	if values > mostValues {
		r.invalidAs(p, values, fmt.Sprintf("the total number of attribute values must not exceed %d", mostValues))
	}
	for i := range attributes.indexes() {
		r.attributeName(attributes, attributes.Member(i).Name)
		r.attribute(attributes.entry(i))
	}
	if !isSet(was) || !r.same(capacity, was.Get("capacity")) {
		for i := range capacity.indexes() {
			r.attributeName(capacity, capacity.Member(i).Name)
			r.deviceCapacity(capacity.entry(i), p.Get("allowMultipleAllocations").Bool())
		}
	}
	if taints := p.at("taints"); !isSet(was) || !r.same(taints, was.Get("taints")) {
		r.deviceTaints(taints)
	}
	counters := p.at("consumesCounters")
	for i := range counters.indexes() {
		r.counterSet(counters.item(i), "counterSet")
	}
	r.deviceNodes(p, each)
	r.bindings(p.at("bindingConditions"), p.at("bindingFailureConditions"))
}

// deviceNodes validates where a device is.
func (r *report) deviceNodes(p place, each bool) {
	if !each {
		if isSet(p.Get("nodeName")) || isSet(p.Get("nodeSelector")) || isSet(p.Get("allNodes")) {
			r.invalidAs(p, nil, "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec")
		}
		return
	}
	const detail = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
	switch set := r.nodesOf(p, "must not be empty", false); len(set) {
	case 0:
		r.required(p, detail)
	case 1:
	default:
		r.invalidAs(p, "{"+strings.Join(set, ", ")+"}", detail)
	}
}

// attributeName validates the name of an attribute or a capacity, which may have a domain. A name with several slashes is not read.
func (r *report) attributeName(p place, name string) {
	switch domain, id, ok := strings.Cut(name, "/"); {
	case strings.Contains(id, "/"):
	case !ok:
		r.identifier(p, name)
	default:
		if domain == "" {
			r.invalidAs(p, "", "the domain must not be empty")
		} else {
			r.driverName(p.with(value.String(domain)))
		}
		if id == "" {
			r.invalidAs(p, "", "the name must not be empty")
		} else {
			r.identifier(p, id)
		}
	}
}

func (r *report) identifier(p place, id string) {
	if len(id) > longestAttribute {
		r.add(field.TooLong(p.path(), "", longestAttribute))
	}
	r.invalidAs(p, id, content.IsCIdentifier(id)...)
}

var versionText = lazyRegexp(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)` +
	`(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`)

// attribute validates the value of an attribute.
func (r *report) attribute(p place) {
	if text := p.at("string"); len(text.Str()) > longestValue {
		r.add(field.TooLong(text.path(), "", longestValue))
	}
	if version := p.at("version"); version.is() {
		r.version(version)
	}
	for _, name := range attributeLists {
		if list := p.at(name); list.Kind() == value.KindList && list.Len() == 0 {
			r.invalid(list, "must not be empty if specified")
		}
	}
	versions := p.at("versions")
	for i := range versions.indexes() {
		r.version(versions.item(i))
	}
	var set []string
	for _, name := range attributeMembers {
		if v := p.Get(name); isSet(v) && (v.Kind() != value.KindList || v.Len() > 0) {
			set = append(set, name)
		}
	}
	const members = "one of: `int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`"
	switch len(set) {
	case 0:
		r.laterInvalid(p, "", "must specify "+members)
	case 1:
	default:
		r.laterInvalid(p, "{"+strings.Join(set, ", ")+"}", "must specify exactly "+members)
	}
}

func (r *report) version(p place) {
	if !versionText().MatchString(p.Str()) {
		r.invalid(p, "must be a string compatible with semver.org spec 2.0.0")
	}
	if len(p.Str()) > longestValue {
		r.add(field.TooLong(p.path(), "", longestValue))
	}
}

// deviceCapacity validates how much a device has. many is whether several requests may share it.
func (r *report) deviceCapacity(p place, many bool) {
	policy := p.at("requestPolicy")
	valid, within := policy.at("validValues"), policy.at("validRange")
	switch {
	case !policy.is():
	case !many:
		r.forbidden(policy, "allowMultipleAllocations must be true")
	case valid.Len() > 0 && within.is():
		r.forbidden(policy, `exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time`)
	case valid.Len() > 0:
		if standard := policy.at("default"); !standard.is() {
			r.required(standard, "required when validValues is defined")
		} else {
			r.validValues(valid, quantity(standard.Value), quantity(p.Get("value")))
		}
	case within.is():
		if standard := policy.at("default"); !standard.is() {
			r.required(standard, "required when validRange is defined")
		} else {
			r.validRange(within, quantity(standard.Value), quantity(p.Get("value")))
		}
	}
}

// mostOptions is how many amounts a request may choose from.
const mostOptions = 10

// validValues validates the amounts that requests may have.
func (r *report) validValues(p place, standard, most resource.Quantity) {
	for i := 1; i < p.Len(); i++ {
		if now, before := quantity(p.Item(i)), quantity(p.Item(i-1)); before.Cmp(now) > 0 {
			r.invalidAs(p.item(i), now.String(), "values must be sorted in ascending order")
		}
	}
	if p.Len() > mostOptions {
		r.add(field.TooMany(p.path(), p.Len(), mostOptions))
	} else {
		for i := range p.indexes() {
			if q := quantity(p.Item(i)); q.Cmp(most) > 0 {
				r.invalidAs(p.item(i), q.String(), "option is larger than capacity value: "+most.String())
			}
		}
		var met names
		for i := range p.indexes() {
			q := quantity(p.Item(i))
			if text := strconv.FormatInt(q.Value(), 10); !met.add(text) { // whole numbers are compared, rounded up
				r.add(field.Duplicate(p.item(i).path(), text))
			}
		}
	}
	if !slices.ContainsFunc(slices.Collect(p.Items()), func(v value.Value) bool { return standard.Cmp(quantity(v)) == 0 }) {
		r.invalidAs(p, standard.String(), "default value is not valid according to the requestPolicy")
	}
}

// validRange validates the range of the amounts that requests may have.
func (r *report) validRange(p place, standard, most resource.Quantity) {
	least, top := p.at("min"), p.at("max")
	if !least.is() {
		r.required(least, "required when validRange is defined")
		return
	}
	from := quantity(least.Value)
	if from.Cmp(most) > 0 {
		r.invalidAs(least, from.String(), "min is larger than capacity value: "+most.String())
	}
	if standard.Cmp(from) < 0 {
		r.invalidAs(p.at("default"), standard.String(), "default is less than min: "+from.String())
	}
	if top.is() {
		to := quantity(top.Value)
		if from.Cmp(to) > 0 {
			r.invalidAs(top, from.String(), "min is larger than max: "+to.String())
		}
		if to.Cmp(most) > 0 {
			r.invalidAs(top, to.String(), "max is larger than capacity value: "+most.String())
		}
		if standard.Cmp(to) > 0 {
			r.invalidAs(p.at("default"), standard.String(), "default is more than max: "+to.String())
		}
	}
	r.rangeSteps(p, standard, most)
}

// rangeSteps validates the steps of a range: each amount is the least one and a number of steps. Amounts are rounded up to whole numbers.
func (r *report) rangeSteps(p place, standard, most resource.Quantity) {
	least, step := quantity(p.Get("min")), p.at("step")
	if !step.is() {
		return
	}
	by := quantity(step.Value)
	amounts := []rangeAmount{{"default", standard}, {"min", least}}
	if top := p.Get("max"); isSet(top) {
		amounts = append(amounts, rangeAmount{"max", quantity(top)})
	}
	amounts = append(amounts, rangeAmount{"step", by})
	if by.Sign() <= 0 {
		r.invalidAs(step, by.String(), "must be greater than zero")
		return
	}
	added := least.DeepCopy()
	if added.Add(by); added.Cmp(most) > 0 {
		r.invalidAs(step, by.String(), fmt.Sprintf("one step %s is larger than capacity value: %s", added.String(), most.String()))
	}
	before := len(r.errs)
	for _, a := range amounts {
		if detail := a.notWhole(); detail != "" {
			r.invalidAs(p.at(a.name), a.String(), detail)
		}
	}
	if len(r.errs) > before {
		return
	}
	for _, a := range amounts {
		if (a.name == "default" || a.name == "max") && (a.Value()-least.Value())%by.Value() != 0 {
			r.invalidAs(step, a.String(), fmt.Sprintf("value is not a multiple of a given step (%s) from (%s)", by.String(), least.String()))
		}
	}
}

// rangeAmount is an amount of a range, under the name of its member.
type rangeAmount struct {
	name string
	resource.Quantity
}

// notWhole returns why an amount is no number that an int64 holds.
func (a *rangeAmount) notWhole() string {
	switch {
	case a.Sign() < 0:
		return "must be greater than or equal to 0"
	case a.CmpInt64(math.MaxInt64) > 0:
		return "must not be larger than 9223372036854775807"
	}
	return ""
}

// deviceTaints validates the taints of a device.
func (r *report) deviceTaints(p place) {
	if p.Len() > mostTaints {
		r.add(field.TooMany(p.path(), p.Len(), mostTaints))
		return
	}
	for i := range p.indexes() {
		taint := p.item(i)
		text, effect := taint.at("value"), taint.at("effect")
		r.labelKey(taint.at("key"))
		if text.Str() != "" {
			r.invalid(text, validation.IsValidLabelValue(text.Str())...)
		}
		if effect.Str() == "" {
			r.later(effect, "")
		} else {
			r.amongLater(effect, taintEffects...)
		}
	}
}

// counterSet validates a set of counters, which has its name in a member.
func (r *report) counterSet(p place, member string) {
	name, counters := p.at(member), p.at("counters")
	if name.Str() == "" {
		r.later(name, "")
	} else {
		r.labelLater(name, name.Str())
	}
	if counters.Len() == 0 {
		r.later(counters, "")
	} else if counters.Len() > mostCounters {
		r.add(field.TooMany(counters.path(), counters.Len(), mostCounters))
	}
	for key := range counters.Members() {
		r.labelLater(counters, key)
	}
}

// labelLater refuses a text that is no DNS label, after the rest.
func (r *report) labelLater(p place, text string) {
	for _, detail := range content.IsDNS1123Label(text) {
		r.laterInvalid(p, text, detail)
	}
}

// bindings validates the conditions that a device waits for, and the conditions that end the wait.
func (r *report) bindings(wanted, failed place) {
	var conditions, failures names
	for _, list := range [...]place{wanted, failed} {
		for i := range list.indexes() {
			r.labelKey(list.item(i))
		}
	}
	for i := range wanted.indexes() {
		if !conditions.add(wanted.Item(i).Str()) {
			r.duplicate(wanted.item(i))
		}
	}
	for i := range failed.indexes() {
		c := failed.item(i)
		if !failures.add(c.Str()) {
			r.duplicate(c)
		}
		if conditions.has(c.Str()) {
			r.invalid(c, "bindingFailureConditions must not overlap with bindingConditions")
		}
	}
	if wanted.Len() == 0 && failed.Len() > 0 {
		r.invalid(wanted, "bindingConditions are required to use bindingFailureConditions")
	}
	if failed.Len() == 0 && wanted.Len() > 0 {
		r.invalid(failed, "bindingFailureConditions are required to use bindingConditions")
	}
}

// Bounds of what drivers say of devices.
const (
	mostConditions  = 8
	mostAddresses   = 16
	mostOfInterface = 256
	mostOfHardware  = 128
)

// sharedDevice is a device, or a share of one, as refusals show it.
type sharedDevice struct{ Driver, Pool, Device, ShareID string }

func sharedDeviceOf(v value.Value) sharedDevice {
	return sharedDevice{v.Get("driver").Str(), v.Get("pool").Str(), v.Get("device").Str(), v.Get("shareID").Str()}
}

// allocatedBy returns the devices that an allocation has.
func allocatedBy(allocation value.Value) map[sharedDevice]bool {
	out := map[sharedDevice]bool{}
	for result := range allocation.Get("devices", "results").Items() {
		out[sharedDeviceOf(result)] = true
	}
	return out
}

var lowerUUID = lazyRegexp(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// deviceStatuses validates what drivers say of the devices that are allocated to a claim.
// Devices that are no longer allocated are dropped.
func (r *report) deviceStatuses(p place, allocation, was value.Value) {
	allocated, had := allocatedBy(allocation), allocatedBy(was)
	for i := range p.indexes() {
		device := p.item(i)
		id := sharedDeviceOf(device.Value)
		if had[id] && !allocated[id] {
			continue
		}
		name, data := device.at("device"), device.at("data")
		r.driverName(device.at("driver"))
		r.poolName(device.at("pool"))
		r.invalidAs(name, name.Str(), validation.IsDNS1123Label(name.Str())...)
		if !allocated[id] {
			r.invalidAs(device, id, "must be an allocated device in the claim")
		}
		r.deviceConditions(device.at("conditions"))
		if data.is() && data.Kind() != value.KindObject {
			r.invalidAs(data, "<value omitted>", "must be a valid JSON object")
		}
		r.uuidLater(device.at("shareID"))
		r.networkData(device.at("networkData"))
	}
}

func (r *report) deviceConditions(p place) {
	if p.Len() > mostConditions {
		r.add(field.TooMany(p.path(), p.Len(), mostConditions))
	}
	var conditions []metav1.Condition
	if structs.Into(p.Value, &conditions) == nil {
		r.errs = append(r.errs, metav1validation.ValidateConditions(conditions, p.path())...)
	}
}

// networkData validates the addresses of a network device.
func (r *report) networkData(p place) {
	r.bytesLater(p.at("interfaceName"), mostOfInterface)
	addresses := p.at("ips")
	for i := range r.onceLater(addresses, mostAddresses, value.Value.Str).indexes() {
		a := addresses.item(i)
		r.errs = append(r.errs, validation.IsValidInterfaceAddress(a.path(), a.Str())...)
	}
	r.bytesLater(p.at("hardwareAddress"), mostOfHardware)
}

// bytesLater refuses a text of too many bytes, after the rest.
func (r *report) bytesLater(p place, most int) {
	if len(p.Str()) > most {
		r.last = append(r.last, field.TooLong(p.path(), "", most))
	}
}
