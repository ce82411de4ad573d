package kinds

import (
	"encoding/base64"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/deed-project/deed/value"
)

// apiServiceName demands that an APIService is named after its version and group, such as v1.apps.
func apiServiceName(object value.Value) apivalidation.ValidateNameFunc {
	spec := object.Get("spec")
	want := spec.Get("version").Str() + "." + spec.Get("group").Str()
	return func(name string, _ bool) []string {
		if wrong := content.IsPathSegmentName(name); len(wrong) > 0 {
			return wrong
		}
		if name != want {
			return []string{fmt.Sprintf("must be `spec.version+\".\"+spec.group`: %q", want)}
		}
		return nil
	}
}

// validateAPIService refuses an APIService. One without a service is local, and has nothing to say about TLS.
//
// An update is validated like a new object, its name included.
func validateAPIService(r *report, object place, live value.Value) {
	spec := object.at("spec")
	group, version, service := spec.at("group"), spec.at("version"), spec.at("service")
	if !live.IsAbsent() {
		r.apiServiceName(object)
	}
	if group.Str() == "" && version.Str() != "v1" {
		r.required(group, "only v1 may have an empty group and it better be legacy kube")
	}
	if group.Str() != "" {
		r.invalid(group, validation.IsDNS1123Subdomain(group.Str())...)
	}
	r.invalidAs(version, version.Str(), validation.IsDNS1035Label(version.Str())...)
	r.priority(spec.at("groupPriorityMinimum"), 20000)
	r.priority(spec.at("versionPriority"), 1000)
	bundle, insecure := spec.at("caBundle"), spec.at("insecureSkipTLSVerify")
	if !service.is() {
		if bundle.Str() != "" {
			r.invalidAs(bundle, fmt.Sprintf("%d bytes", bytesIn(bundle)), "local APIServices may not have a caBundle")
		}
		if insecure.Bool() {
			r.invalid(insecure, "local APIServices may not have insecureSkipTLSVerify")
		}
		return
	}
	r.present(service.at("namespace"))
	r.present(service.at("name"))
	if port := service.at("port"); len(validation.IsValidPortNum(int(port.Int()))) > 0 {
		r.invalidAs(port, port.Int(), "port is not valid: "+strings.Join(validation.IsValidPortNum(int(port.Int())), ", "))
	}
	if insecure.Bool() && bundle.Str() != "" {
		r.invalid(insecure, "may not be true if caBundle is present")
	}
}

// apiServiceName refuses the name of an APIService whose version or group changed.
func (r *report) apiServiceName(object place) {
	name := object.at("metadata").at("name")
	r.invalidAs(name, name.Str(), apiServiceName(object.Value)(name.Str(), false)...)
}

// priority refuses a number that is not between 1 and most.
func (r *report) priority(p place, most int64) {
	if n := p.Int(); n <= 0 || n > most {
		r.invalidAs(p, n, fmt.Sprintf("must be positive and less than %d", most))
	}
}

// bytesIn returns the number of bytes in a text in base64.
func bytesIn(p place) int {
	decoded, err := base64.StdEncoding.DecodeString(p.Str())
	if err != nil {
		return len(p.Str()) // cannot be: the object was decoded
	}
	return len(decoded)
}

// validateAPIServiceStatus refuses conditions that are neither true, false nor unknown.
func validateAPIServiceStatus(r *report, object place, _ value.Value) {
	conditions := object.at("status").at("conditions")
	for i := range conditions.indexes() {
		r.onlyAmong(conditions.item(i).at("status"), "True", "False", "Unknown")
	}
}

// apiServiceBackend shows the service that serves a version.
func apiServiceBackend(s source) string {
	service := s.Get("spec", "service")
	if !isSet(service) {
		return "Local"
	}
	return service.Get("namespace").Str() + "/" + service.Get("name").Str()
}

// availability shows whether a version is served, and why not.
func availability(s source) string {
	for c := range s.Get("status", "conditions").Items() {
		if c.Get("type").Str() != "Available" {
			continue
		}
		status, reason := c.Get("status").Str(), c.Get("reason").Str()
		if status != "True" && reason != "" {
			return status + " (" + reason + ")"
		}
		return status
	}
	return "Unknown"
}
