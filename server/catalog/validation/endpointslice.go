package validation

import (
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/deed-project/deed/value"
)

// endpointSlice refuses an EndpointSlice.
func endpointSlice(r *report, object place, live value.Value) {
	ports, endpoints, typ := object.at("ports"), object.at("endpoints"), object.at("addressType")
	var met names
	for i := range ports.indexes() {
		r.slicePort(ports.item(i), &met)
	}
	if !isSet(live) || !same(endpoints.Value, live.Get("endpoints")) {
		for i := range endpoints.indexes() {
			r.endpoint(endpoints.item(i), typ.Str())
		}
	}
	switch typ.Str() {
	case "":
		r.later(typ, "")
	case "FQDN", "IPv4", "IPv6":
	default:
		r.last = append(r.last, field.NotSupported(typ.path(), Enumeration(typ.Str()), []string{"FQDN", "IPv4", "IPv6"}))
	}
	if isSet(live) && !typ.Equal(live.Get("addressType")) {
		r.laterInvalid(typ, nil, "field is immutable")
	}
}

// slicePort refuses a port, given the names of those before it.
func (r *report) slicePort(p place, met *names) {
	name := p.at("name")
	if name.Str() != "" {
		r.label(name)
	}
	if !met.add(name.Str()) {
		r.add(field.Duplicate(name.path(), name.Str()))
	}
	if protocol := p.at("protocol"); !protocol.is() {
		r.required(protocol, "")
	} else {
		r.onlyAmong(protocol, "SCTP", "TCP", "UDP")
	}
	if protocol := p.at("appProtocol"); protocol.is() {
		r.invalid(protocol, validation.IsQualifiedName(protocol.Str())...)
	}
}

// endpoint refuses what is at addresses of a type.
func (r *report) endpoint(p place, typ string) {
	addresses := p.at("addresses")
	if addresses.Len() == 0 {
		r.later(addresses, "")
	}
	for i := range addresses.indexes() {
		a := addresses.item(i)
		if typ == "FQDN" {
			r.errs = append(r.errs, validation.IsFullyQualifiedDomainName(a.path(), a.Str())...)
			continue
		}
		ip := netutils.ParseIPSloppy(a.Str())
		if six := netutils.IsIPv6String(a.Str()); ip != nil && six != (typ == "IPv6") {
			r.invalidAs(addresses, a.Str(), "must be an "+typ+" address")
		}
		if ip == nil || !ip.IsLoopback() { // which leads to webhooks of tests, where the server looks for those of services
			r.reachable(a, nil)
		}
	}
	if node := p.at("nodeName"); node.is() {
		r.subdomain(node)
	}
	if host := p.at("hostname"); host.is() {
		r.label(host)
	}
}
