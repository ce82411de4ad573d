// Package devices validates the kinds of dynamic resource allocation: devices in ResourceSlices, their classes and taints, and claims of
// them.
//
// The errors come partly from functions and partly from tags, hence the two kinds of calls: r.Required and r.RequiredLater.
package devices

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/kinds/pods"
	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

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
	mostConsumed     = 2 // of these, by a device
)

// ValidateSlice validates a ResourceSlice.
func ValidateSlice(r *walk.Report, object walk.Place, live value.Value) {
	spec, was := object.At("spec"), live.Get("spec")
	driver, pool := spec.At("driver"), spec.At("pool")
	r.DriverName(driver)
	validatePool(r, pool)
	if walk.IsSet(live) {
		r.Unchanged(pool.At("name"), was.Get("pool", "name"))
		r.Unchanged(driver, was.Get("driver"))
		r.Unchanged(spec.At("nodeName"), was.Get("nodeName"))
	}
	if set := nodesOf(r, spec, "must be either unset or set to a non-empty string", true); len(set) != 1 {
		const detail = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
		if len(set) == 0 {
			r.Required(spec, detail)
		} else {
			r.InvalidAs(spec, "{"+strings.Join(set, ", ")+"}", detail+", but multiple fields are set")
		}
	}
	devices, counters := spec.At("devices"), spec.At("sharedCounters")
	if devices.Kind() == value.KindList && counters.Kind() == value.KindList {
		r.InvalidAs(spec, "", "only one of `sharedCounters` or `devices` is allowed")
	}
	validateDevices(r, devices, was.Get("devices"), spec.Get("perDeviceNodeSelection").Bool())
	validateSharedCounters(r, counters)
}

// SlicePath returns the path in a version of a path in the hub version. In v1beta1, all of a device but its name is in a member basic.
func SlicePath(version, path string) string {
	const devices = "spec.devices["
	head, tail, inside := strings.Cut(path, "].")
	if version != "v1beta1" || !inside || !strings.HasPrefix(head, devices) || tail == "name" {
		return path
	}
	return head + "].basic." + tail
}

// ClaimPath returns the path in a version of a path in the hub version, of a claim or a template. In v1beta1, requests have themselves what is in
// their member exactly.
func ClaimPath(version, path string) string {
	head, tail, inside := strings.Cut(path, "devices.requests[")
	if version != "v1beta1" || !inside {
		return path
	}
	return head + "devices.requests[" + strings.Replace(tail, "].exactly", "]", 1)
}

// validateSharedCounters validates the counters that the devices of a slice share.
func validateSharedCounters(r *walk.Report, p walk.Place) {
	onceLater(r, p, mostSets, keyOf("name"), func(set walk.Place) { validateCounterSet(r, set, "name") })
}

// validatePool validates which pool a slice is of.
func validatePool(r *walk.Report, p walk.Place) {
	validatePoolName(r, p.At("name"))
	if count := p.At("resourceSliceCount"); count.Int() <= 0 {
		r.InvalidAs(count, count.Int(), "must be greater than zero")
	}
	if generation := p.At("generation"); generation.Int() < 0 {
		r.Invalid(generation, "must be greater than or equal to zero")
	}
}

func validatePoolName(r *walk.Report, p walk.Place) {
	if !r.Present(p) {
		return
	}
	if len(p.Str()) > validation.DNS1123SubdomainMaxLength {
		r.Add(field.TooLong(p.Path(), "", validation.DNS1123SubdomainMaxLength))
	}
	for part := range strings.SplitSeq(p.Str(), "/") {
		r.InvalidAs(p, part, validation.IsDNS1123Subdomain(part)...)
	}
}

// nodesOf validates where the devices of a slice are, or a device, and returns the fields that say so.
func nodesOf(r *walk.Report, p walk.Place, empty string, slice bool) []string {
	var set []string
	if name := p.At("nodeName"); name.IsSet() && name.Str() == "" {
		r.Invalid(name, empty)
	} else if name.IsSet() {
		set = append(set, "`nodeName`")
		r.Invalid(name, validation.IsDNS1123Subdomain(name.Str())...)
	}
	if selector := p.At("nodeSelector"); selector.IsSet() {
		set = append(set, "`nodeSelector`")
		pods.ValidateNodeSelector(r, selector)
		if terms := selector.At("nodeSelectorTerms"); slice && terms.Len() != 1 {
			r.Invalid(terms, "must have exactly one node selector term")
		}
	}
	flags := []string{"allNodes", "perDeviceNodeSelection"}
	if !slice {
		flags = flags[:1]
	}
	for _, name := range flags {
		if flag := p.At(name); flag.IsSet() && !flag.Bool() {
			r.Invalid(flag, "must be either unset or set to true")
		} else if flag.IsSet() {
			set = append(set, "`"+name+"`")
		}
	}
	return set
}

// validateDevices validates the devices of a slice. each is whether each device says where it is.
func validateDevices(r *walk.Report, p walk.Place, was value.Value, each bool) {
	most := mostDevices
	if slices.ContainsFunc(slices.Collect(p.Items()), advanced) {
		most = mostAdvanced
	}
	if p.Len() > most {
		r.Add(field.TooMany(p.Path(), p.Len(), most))
		return
	}
	old := map[string]value.Value{}
	for device := range was.Items() {
		old[device.Get("name").Str()] = device
	}
	for i := range p.Indexes() {
		validateDevice(r, p.Index(i), old[p.Item(i).Get("name").Str()], each)
	}
	var met walk.Names
	for i := range p.Indexes() {
		if name := p.Item(i).Get("name").Str(); !met.Add(name) {
			r.Add(field.Duplicate(p.Index(i).Path(), name))
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

// validateDevice validates a device; was is the device of the same name that the slice had.
func validateDevice(r *walk.Report, p walk.Place, was value.Value, each bool) {
	name, attributes, capacity := p.At("name"), p.At("attributes"), p.At("capacity")
	r.InvalidAs(name, name.Str(), validation.IsDNS1123Label(name.Str())...)
	if n := attributes.Len() + capacity.Len(); n > mostOfDevice {
		r.InvalidAs(p, n, fmt.Sprintf("the total number of attributes and capacities must not exceed %d", mostOfDevice))
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
		r.InvalidAs(p, values, fmt.Sprintf("the total number of attribute values must not exceed %d", mostValues))
	}
	for i := range attributes.Indexes() {
		validateAttributeName(r, attributes, attributes.Member(i).Name)
		validateAttribute(r, entryInShort(attributes, i), attributes.Entry(i))
	}
	if !walk.IsSet(was) || !r.Same(capacity, was.Get("capacity")) {
		for i := range capacity.Indexes() {
			validateAttributeName(r, capacity, capacity.Member(i).Name)
			validateDeviceCapacity(r, entryInShort(capacity, i), p.Get("allowMultipleAllocations").Bool())
		}
	}
	before := len(r.Last)
	if taints := p.At("taints"); !walk.IsSet(was) || !r.Same(taints, was.Get("taints")) {
		validateDeviceTaints(r, taints)
	}
	declared := slices.Clone(r.Last[before:]) // tags of taints come behind those of counters, as the fields do
	r.Last = r.Last[:before]
	onceLater(r, p.At("consumesCounters"), mostConsumed, keyOf("counterSet"), func(set walk.Place) { validateCounterSet(r, set, "counterSet") })
	r.Last = append(r.Last, declared...)
	validateDeviceNodes(r, p, each)
	conditions, failures := p.At("bindingConditions"), p.At("bindingFailureConditions")
	atMostLater(r, conditions, mostBindings)
	atMostLater(r, failures, mostBindings)
	validateBindings(r, conditions, failures)
}

// longestKey is how long the name of an attribute or a capacity is at most in the paths of errors.
const longestKey = walk.LongestDriver + 1 + longestAttribute

// entryInShort returns entry number i of a map. Its place has a long name without the middle, as code tells it; tags tell it as it is.
func entryInShort(m walk.Place, i int) walk.Place {
	const gap = "..."
	entry := m.Entry(i)
	name, left := entry.Name(), longestKey-len(gap)
	if len(name) <= longestKey {
		return entry
	}
	return m.Below(entry.Value, name[:(left+1)/2]+gap+name[len(name)-left/2:], walk.IsKey)
}

// validateDeviceNodes validates where a device is.
func validateDeviceNodes(r *walk.Report, p walk.Place, each bool) {
	if !each {
		if walk.IsSet(p.Get("nodeName")) || walk.IsSet(p.Get("nodeSelector")) || walk.IsSet(p.Get("allNodes")) {
			r.InvalidAs(p, nil, "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec")
		}
		return
	}
	const detail = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
	switch set := nodesOf(r, p, "must not be empty", false); len(set) {
	case 0:
		r.Required(p, detail)
	case 1:
	default:
		r.InvalidAs(p, "{"+strings.Join(set, ", ")+"}", detail)
	}
}

// validateAttributeName validates the name of an attribute or a capacity, which may have a domain. A name with several slashes is not read.
func validateAttributeName(r *walk.Report, p walk.Place, name string) {
	switch domain, id, ok := strings.Cut(name, "/"); {
	case strings.Contains(id, "/"):
	case !ok:
		validateIdentifier(r, p, name)
	default:
		if domain == "" {
			r.InvalidAs(p, "", "the domain must not be empty")
		} else {
			r.DriverName(p.WithValue(value.String(domain)))
		}
		if id == "" {
			r.InvalidAs(p, "", "the name must not be empty")
		} else {
			validateIdentifier(r, p, id)
		}
	}
}

func validateIdentifier(r *walk.Report, p walk.Place, id string) {
	if len(id) > longestAttribute {
		r.Add(field.TooLong(p.Path(), "", longestAttribute))
	}
	r.InvalidAs(p, id, content.IsCIdentifier(id)...)
}

var versionText = walk.LazyRegexp(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)` +
	`(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`)

// validateAttribute validates the value of an attribute. Tags tell of it at another place, if its name is long. Code leaves to tags what is wrong
// at the same place.
func validateAttribute(r *walk.Report, p, tagged walk.Place) {
	if text := p.At("string"); len(text.Str()) > longestValue {
		r.Add(field.TooLong(text.Path(), "", longestValue))
	}
	if version := p.At("version"); version.IsSet() {
		validateVersion(r, version)
	}
	for _, name := range attributeLists {
		if list := p.At(name); list.Kind() == value.KindList && list.Len() == 0 {
			r.Invalid(list, "must not be empty if specified")
		}
	}
	versions := p.At("versions")
	for i := range versions.Indexes() {
		validateVersion(r, versions.Index(i))
	}
	var set []string
	for _, name := range attributeMembers {
		if v := p.Get(name); walk.IsSet(v) && (v.Kind() != value.KindList || v.Len() > 0) {
			set = append(set, name)
		}
	}
	const onlyOne = "exactly one value must be specified"
	const members = "one of: `int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`"
	isTagged := !r.Before(walk.TaggedSince)
	isCoded := !isTagged || p.Name() != tagged.Name()
	switch {
	case len(set) == 1:
		return
	case isCoded && len(set) == 0:
		r.InvalidAs(p, "", onlyOne)
	case isCoded:
		r.InvalidAs(p, r.Inside(tagged.Path().String(), p.Value), onlyOne)
	}
	switch {
	case !isTagged:
	case len(set) == 0:
		r.InvalidLater(tagged, "", "must specify "+members)
	default:
		r.InvalidLater(tagged, "{"+strings.Join(set, ", ")+"}", "must specify exactly "+members)
	}
}

func validateVersion(r *walk.Report, p walk.Place) {
	if !versionText().MatchString(p.Str()) {
		r.Invalid(p, "must be a string compatible with semver.org spec 2.0.0")
	}
	if len(p.Str()) > longestValue {
		r.Add(field.TooLong(p.Path(), "", longestValue))
	}
}

// validateDeviceCapacity validates how much a device has. many is whether several requests may share it.
func validateDeviceCapacity(r *walk.Report, p walk.Place, many bool) {
	policy := p.At("requestPolicy")
	valid, within := policy.At("validValues"), policy.At("validRange")
	switch {
	case !policy.IsSet():
	case !many:
		r.Forbidden(policy, "allowMultipleAllocations must be true")
	case valid.Len() > 0 && within.IsSet():
		r.Forbidden(policy, `exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time`)
	case valid.Len() > 0:
		if standard := policy.At("default"); !standard.IsSet() {
			r.Required(standard, "required when validValues is defined")
		} else {
			validateValidValues(r, valid, walk.Quantity(standard.Value), walk.Quantity(p.Get("value")))
		}
	case within.IsSet():
		if standard := policy.At("default"); !standard.IsSet() {
			r.Required(standard, "required when validRange is defined")
		} else {
			validateValidRange(r, within, walk.Quantity(standard.Value), walk.Quantity(p.Get("value")))
		}
	}
}

// mostOptions is how many amounts a request may choose from.
const mostOptions = 10

// validateValidValues validates the amounts that requests may have.
func validateValidValues(r *walk.Report, p walk.Place, standard, most resource.Quantity) {
	for i := 1; i < p.Len(); i++ {
		if now, before := walk.Quantity(p.Item(i)), walk.Quantity(p.Item(i-1)); before.Cmp(now) > 0 {
			r.InvalidAs(p.Index(i), now.String(), "values must be sorted in ascending order")
		}
	}
	if p.Len() > mostOptions {
		r.Add(field.TooMany(p.Path(), p.Len(), mostOptions))
	} else {
		for i := range p.Indexes() {
			if q := walk.Quantity(p.Item(i)); q.Cmp(most) > 0 {
				r.InvalidAs(p.Index(i), q.String(), "option is larger than capacity value: "+most.String())
			}
		}
		var met walk.Names
		for i := range p.Indexes() {
			q := walk.Quantity(p.Item(i))
			if text := strconv.FormatInt(q.Value(), 10); !met.Add(text) { // whole numbers are compared, rounded up
				r.Add(field.Duplicate(p.Index(i).Path(), text))
			}
		}
	}
	if !slices.ContainsFunc(slices.Collect(p.Items()), func(v value.Value) bool { return standard.Cmp(walk.Quantity(v)) == 0 }) {
		r.InvalidAs(p, standard.String(), "default value is not valid according to the requestPolicy")
	}
}

// validateValidRange validates the range of the amounts that requests may have.
func validateValidRange(r *walk.Report, p walk.Place, standard, most resource.Quantity) {
	least, top := p.At("min"), p.At("max")
	if !least.IsSet() {
		r.Required(least, "required when validRange is defined")
		return
	}
	from := walk.Quantity(least.Value)
	if from.Cmp(most) > 0 {
		r.InvalidAs(least, from.String(), "min is larger than capacity value: "+most.String())
	}
	if standard.Cmp(from) < 0 {
		r.InvalidAs(p.At("default"), standard.String(), "default is less than min: "+from.String())
	}
	if top.IsSet() {
		to := walk.Quantity(top.Value)
		if from.Cmp(to) > 0 {
			r.InvalidAs(top, from.String(), "min is larger than max: "+to.String())
		}
		if to.Cmp(most) > 0 {
			r.InvalidAs(top, to.String(), "max is larger than capacity value: "+most.String())
		}
		if standard.Cmp(to) > 0 {
			r.InvalidAs(p.At("default"), standard.String(), "default is more than max: "+to.String())
		}
	}
	validateRangeSteps(r, p, standard, most)
}

// validateRangeSteps validates the steps of a range: each amount is the least one and a number of steps. Amounts are rounded up to whole numbers.
func validateRangeSteps(r *walk.Report, p walk.Place, standard, most resource.Quantity) {
	least, step := walk.Quantity(p.Get("min")), p.At("step")
	if !step.IsSet() {
		return
	}
	by := walk.Quantity(step.Value)
	amounts := []rangeAmount{{"default", standard}, {"min", least}}
	if top := p.Get("max"); walk.IsSet(top) {
		amounts = append(amounts, rangeAmount{"max", walk.Quantity(top)})
	}
	amounts = append(amounts, rangeAmount{"step", by})
	if by.Sign() <= 0 {
		r.InvalidAs(step, by.String(), "must be greater than zero")
		return
	}
	added := least.DeepCopy()
	if added.Add(by); added.Cmp(most) > 0 {
		r.InvalidAs(step, by.String(), fmt.Sprintf("one step %s is larger than capacity value: %s", added.String(), most.String()))
	}
	before := len(r.Errs)
	for _, a := range amounts {
		if detail := a.notWhole(); detail != "" {
			r.InvalidAs(p.At(a.name), a.String(), detail)
		}
	}
	if len(r.Errs) > before {
		return
	}
	for _, a := range amounts {
		if (a.name == "default" || a.name == "max") && (a.Value()-least.Value())%by.Value() != 0 {
			r.InvalidAs(step, a.String(), fmt.Sprintf("value is not a multiple of a given step (%s) from (%s)", by.String(), least.String()))
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

// validateCounterSet validates a set of counters, which has its name in a member.
func validateCounterSet(r *walk.Report, p walk.Place, member string) {
	name, counters := p.At(member), p.At("counters")
	if name.Str() == "" {
		r.RequiredLater(name, "")
	} else {
		r.LabelLater(name, name.Str())
	}
	if counters.Len() == 0 {
		r.RequiredLater(counters, "")
	} else if counters.Len() > mostCounters {
		r.Add(field.TooMany(counters.Path(), counters.Len(), mostCounters))
	}
	for key := range counters.Members() {
		r.LabelLater(counters, key)
	}
}

// validateBindings validates the conditions that a device waits for, and the conditions that end the wait.
func validateBindings(r *walk.Report, wanted, failed walk.Place) {
	var conditions, failures walk.Names
	for _, list := range [...]walk.Place{wanted, failed} {
		for i := range few(list, mostBindings).Indexes() {
			r.LabelKey(list.Index(i))
		}
	}
	for i := range wanted.Indexes() {
		if !conditions.Add(wanted.Item(i).Str()) {
			r.Duplicate(wanted.Index(i))
		}
	}
	for i := range failed.Indexes() {
		c := failed.Index(i)
		if !failures.Add(c.Str()) {
			r.Duplicate(c)
		}
		if conditions.Has(c.Str()) {
			r.Invalid(c, "bindingFailureConditions must not overlap with bindingConditions")
		}
	}
	if wanted.Len() == 0 && failed.Len() > 0 {
		r.Invalid(wanted, "bindingConditions are required to use bindingFailureConditions")
	}
	if failed.Len() == 0 && wanted.Len() > 0 {
		r.Invalid(failed, "bindingFailureConditions are required to use bindingConditions")
	}
}

// Bounds of what drivers say of devices.
const (
	mostConditions  = 8
	mostAddresses   = 16
	mostOfInterface = 256
	mostOfHardware  = 128
)
