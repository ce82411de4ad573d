package services

import (
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// distributions are which endpoints are preferred.
var distributions = []string{"PreferClose", "PreferSameZone", "PreferSameNode"}

// ValidateEndpointSlice refuses an EndpointSlice.
//
// Endpoints that do not change are not validated again: they may have been stored under other rules. The type of addresses never changes.
func ValidateEndpointSlice(r *walk.Report, object walk.Place, live value.Value) {
	ports, endpoints, typ := object.At("ports"), object.At("endpoints"), object.At("addressType")
	isTagged := !r.Before(walk.TaggedSince)
	// A tag that refuses the change of the type ends the tag of known types, so that code finds an unknown one, in front.
	isChanged := walk.IsSet(live) && isTagged && typ.Str() != live.Get("addressType").Str()
	isUnknown := isChanged && typ.Str() != ""
	if isUnknown {
		validateAddressType(typ, r.Add)
	}
	validateSlicePorts(r, ports)
	if !isUnknown {
		validateAddressType(typ, r.Later)
	}
	if walk.IsSet(live) && isTagged {
		r.UnchangedLater(typ, live.Get("addressType"))
	}
	if !walk.IsSet(live) || !r.Same(endpoints, live.Get("endpoints")) {
		tooMany := endpoints.Len() > mostEndpoints
		if tooMany {
			r.Add(field.TooMany(endpoints.Path(), endpoints.Len(), mostEndpoints))
		}
		for i := range endpoints.Indexes() {
			validateAddressCount(r, endpoints.Index(i).At("addresses"), tooMany)
			if !tooMany {
				validateEndpoint(r, endpoints.Index(i), typ.Str())
			}
		}
	}
	if walk.IsSet(live) && !isTagged {
		r.Unchanged(typ, live.Get("addressType"))
	}
}

// validateAddressType refuses a type of addresses that is missing or unknown.
func validateAddressType(typ walk.Place, refuse func(*field.Error)) {
	switch typ.Str() {
	case "":
		refuse(field.Required(typ.Path(), ""))
	case "FQDN", "IPv4", "IPv6":
	default:
		refuse(field.NotSupported(typ.Path(), walk.Enumeration(typ.Str()), []string{"FQDN", "IPv4", "IPv6"}))
	}
}

// Bounds of an EndpointSlice.
const (
	mostPorts               = 20000
	mostEndpoints           = 1000
	mostAddressesOfEndpoint = 100
)

// validateSlicePorts refuses ports, none of them alone if they are too many.
func validateSlicePorts(r *walk.Report, ports walk.Place) {
	if ports.Len() > mostPorts {
		r.Add(field.TooMany(ports.Path(), ports.Len(), mostPorts))
		return
	}
	var met walk.Names
	for i := range ports.Indexes() {
		validateSlicePort(r, ports.Index(i), &met)
	}
}

// validateSlicePort refuses a port, given the names of those before it.
func validateSlicePort(r *walk.Report, p walk.Place, met *walk.Names) {
	name := p.At("name")
	if name.Str() != "" {
		r.Label(name)
	}
	if !met.Add(name.Str()) {
		r.Add(field.Duplicate(name.Path(), walk.Enumeration(name.Str()))) // a pointer there, and shown as JSON
	}
	if protocol := p.At("protocol"); !protocol.IsSet() {
		r.Required(protocol, "")
	} else {
		r.OnlyAmong(protocol, "SCTP", "TCP", "UDP")
	}
	if protocol := p.At("appProtocol"); protocol.IsSet() {
		r.Invalid(protocol, validation.IsQualifiedName(protocol.Str())...)
	}
}

// validateAddressCount refuses an endpoint without addresses, or with too many. Code does not look at endpoints that are too many, and tags do.
func validateAddressCount(r *walk.Report, addresses walk.Place, tooMany bool) {
	if tooMany && r.Before(walk.TaggedSince) {
		return
	}
	if addresses.Len() == 0 {
		r.RequiredLater(addresses, r.Worded("must contain at least 1 address", ""))
	}
	if addresses.Len() > mostAddressesOfEndpoint {
		r.Later(field.TooMany(addresses.Path(), addresses.Len(), mostAddressesOfEndpoint))
	}
}

// validateEndpoint refuses what is at addresses of a type.
func validateEndpoint(r *walk.Report, p walk.Place, typ string) {
	addresses := p.At("addresses")
	for i := range addresses.Indexes() {
		validateEndpointOf(r, addresses.Index(i), addresses, typ)
	}
	if node := p.At("nodeName"); node.IsSet() {
		r.Subdomain(node)
	}
	if host := p.At("hostname"); host.IsSet() {
		r.Label(host)
	}
	validateHints(r, p.At("hints"))
}

// validateEndpointOf refuses an address that is not of a type. The type is validated elsewhere: addresses of an unknown one are not.
func validateEndpointOf(r *walk.Report, a, addresses walk.Place, typ string) {
	before := len(r.Errs)
	switch typ {
	case "FQDN":
		r.Errs = append(r.Errs, validation.IsFullyQualifiedDomainName(a.Path(), a.Str())...)
		return
	case "IPv4":
		r.Address(a, nil)
	case "IPv6":
		r.Errs = append(r.Errs, validation.IsValidIP(a.Path(), a.Str())...)
	default:
		return
	}
	if len(r.Errs) > before {
		return
	}
	if netutils.IsIPv6String(a.Str()) != (typ == "IPv6") {
		r.InvalidAs(addresses, a.Str(), "must be an "+typ+" address")
	}
	if ip := netutils.ParseIPSloppy(a.Str()); !ip.IsLoopback() { // which leads to webhooks of tests, where the server looks for those of services
		validateReachableIP(r, a)
	}
}

// mostHints is how many zones, and how many nodes, may be meant to use an endpoint.
const mostHints = 8

// validateHints refuses which zones and nodes should use an endpoint. Too many of them end the check.
func validateHints(r *walk.Report, p walk.Place) {
	for _, name := range [...]string{"forZones", "forNodes"} {
		list := p.At(name)
		if list.Len() > mostHints {
			r.Add(field.TooMany(list.Path(), list.Len(), mostHints))
			return
		}
		var met walk.Names
		for i := range list.Indexes() {
			of := list.Index(i).At("name")
			if !met.Add(of.Str()) {
				r.Add(field.Duplicate(of.Path(), of.Str()))
			}
			if name == "forZones" {
				r.InvalidAs(of, of.Str(), validation.IsValidLabelValue(of.Str())...)
			} else {
				r.InvalidAs(of, of.Str(), validation.IsDNS1123Subdomain(of.Str())...)
			}
		}
	}
}

// ValidateEndpoints refuses Endpoints.
//
// A subset is the product of its addresses and its ports.
func ValidateEndpoints(r *walk.Report, object walk.Place, _ value.Value) {
	subsets := object.At("subsets")
	for i := range subsets.Indexes() {
		s := subsets.Index(i)
		if s.Get("addresses").Len() == 0 && s.Get("notReadyAddresses").Len() == 0 {
			r.Required(s, "must specify `addresses` or `notReadyAddresses`")
		}
		for _, list := range [...]string{"addresses", "notReadyAddresses"} {
			addresses := s.At(list)
			for i := range addresses.Indexes() {
				validateEndpointAddress(r, addresses.Index(i))
			}
		}
		ports := s.At("ports")
		for i := range ports.Indexes() {
			validateEndpointPort(r, ports.Index(i), ports.Len() > 1)
		}
	}
}

// validateEndpointAddress refuses an address of endpoints, with its name and node.
func validateEndpointAddress(r *walk.Report, p walk.Place) {
	ip := p.At("ip")
	r.Address(ip, nil)
	if host := p.At("hostname"); host.Str() != "" {
		r.Label(host)
	}
	if node := p.At("nodeName"); node.IsSet() {
		r.InvalidAs(node, node.Str(), validation.IsDNS1123Subdomain(node.Str())...)
	}
	validateReachableIP(r, ip)
}

// validateEndpointPort refuses a port of endpoints, which must be named beside others.
func validateEndpointPort(r *walk.Report, p walk.Place, named bool) {
	if name := p.At("name"); name.Str() != "" {
		r.Label(name)
	} else if named {
		r.Required(name, "")
	}
	r.Port(p.At("port"))
	r.Among(p.At("protocol"), "SCTP", "TCP", "UDP")
	if protocol := p.At("appProtocol"); protocol.IsSet() {
		r.Invalid(protocol, validation.IsQualifiedName(protocol.Str())...)
	}
}
