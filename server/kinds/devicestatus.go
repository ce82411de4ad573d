package kinds

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

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
		if share := device.at("shareID"); share.is() && !lowerUUID().MatchString(share.Str()) {
			r.laterInvalid(share, share.Str(), "must be a lowercase UUID in 8-4-4-4-12 format")
		}
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
	addresses := p.at("ips")
	if addresses.Len() > mostAddresses {
		r.last = append(r.last, field.TooMany(addresses.path(), addresses.Len(), mostAddresses))
	} else {
		for i := range addresses.indexes() {
			a := addresses.item(i)
			r.errs = append(r.errs, validation.IsValidInterfaceAddress(a.path(), a.Str())...)
		}
	}
	r.bytesLater(p.at("interfaceName"), mostOfInterface)
	r.bytesLater(p.at("hardwareAddress"), mostOfHardware)
}

func (r *report) bytesLater(p place, most int) {
	if len(p.Str()) > most {
		r.last = append(r.last, field.TooLong(p.path(), "", most))
	}
}
