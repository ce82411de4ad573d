package devices

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
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

var lowerUUID = walk.LazyRegexp(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// validateDeviceStatuses validates what drivers say of the devices that are allocated to a claim.
// Devices that are no longer allocated are dropped.
func validateDeviceStatuses(r *walk.Report, p walk.Place, stored, allocation, was value.Value) {
	allocated, had := allocatedBy(allocation), allocatedBy(was)
	validate := func(device walk.Place) {
		id := sharedDeviceOf(device.Value)
		if had[id] && !allocated[id] {
			return
		}
		name, data := device.At("device"), device.At("data")
		r.DriverName(device.At("driver"))
		validatePoolName(r, device.At("pool"))
		r.InvalidAs(name, name.Str(), validation.IsDNS1123Label(name.Str())...)
		if !allocated[id] {
			r.InvalidAs(device, id, "must be an allocated device in the claim")
		}
		validateDeviceConditions(r, device.At("conditions"))
		if data.IsSet() {
			validateRaw(r, data, false)
		}
		validateUuidLater(r, device.At("shareID"))
		validateNetworkData(r, device.At("networkData"))
	}
	if !r.Same(p, stored) {
		onceLater(r, p, noLimit, func(v value.Value) any { return sharedDeviceOf(v) }, validate)
		return
	}
	for i := range p.Indexes() {
		validate(p.Index(i))
	}
}

func validateDeviceConditions(r *walk.Report, p walk.Place) {
	if p.Len() > mostConditions {
		r.Add(field.TooMany(p.Path(), p.Len(), mostConditions))
	}
	var conditions []metav1.Condition
	if structs.Into(p.Value, &conditions) == nil {
		r.Errs = append(r.Errs, metav1validation.ValidateConditions(conditions, p.Path())...)
	}
}

// validateNetworkData validates the addresses of a network device.
func validateNetworkData(r *walk.Report, p walk.Place) {
	r.BytesLater(p.At("interfaceName"), mostOfInterface)
	addresses := p.At("ips")
	onceLater(r, addresses, mostAddresses, itself, func(a walk.Place) {
		r.Errs = append(r.Errs, validation.IsValidInterfaceAddress(a.Path(), a.Str())...)
	})
	r.BytesLater(p.At("hardwareAddress"), mostOfHardware)
}
