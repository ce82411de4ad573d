package kinds

import (
	"encoding/base64"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/deed-project/deed/server/kinds/walk"
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
func validateAPIService(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	group, version, service := spec.At("group"), spec.At("version"), spec.At("service")
	if !live.IsAbsent() {
		validateAPIServiceName(r, object)
	}
	if group.Str() == "" && version.Str() != "v1" {
		r.Required(group, "only v1 may have an empty group and it better be legacy kube")
	}
	if group.Str() != "" {
		r.Invalid(group, validation.IsDNS1123Subdomain(group.Str())...)
	}
	r.InvalidAs(version, version.Str(), validation.IsDNS1035Label(version.Str())...)
	validateGroupPriority(r, spec.At("groupPriorityMinimum"), 20000)
	validateGroupPriority(r, spec.At("versionPriority"), 1000)
	bundle, insecure := spec.At("caBundle"), spec.At("insecureSkipTLSVerify")
	if !service.IsSet() {
		if bundle.Str() != "" {
			r.InvalidAs(bundle, fmt.Sprintf("%d bytes", bytesIn(bundle)), "local APIServices may not have a caBundle")
		}
		if insecure.Bool() {
			r.Invalid(insecure, "local APIServices may not have insecureSkipTLSVerify")
		}
		return
	}
	r.Present(service.At("namespace"))
	r.Present(service.At("name"))
	if port := service.At("port"); len(validation.IsValidPortNum(int(port.Int()))) > 0 {
		r.InvalidAs(port, port.Int(), "port is not valid: "+strings.Join(validation.IsValidPortNum(int(port.Int())), ", "))
	}
	if insecure.Bool() && bundle.Str() != "" {
		r.Invalid(insecure, "may not be true if caBundle is present")
	}
}

// validateAPIServiceName refuses the name of an APIService whose version or group changed.
func validateAPIServiceName(r *walk.Report, object walk.Place) {
	name := object.At("metadata").At("name")
	r.InvalidAs(name, name.Str(), apiServiceName(object.Value)(name.Str(), false)...)
}

// validateGroupPriority refuses a number that is not between 1 and most.
func validateGroupPriority(r *walk.Report, p walk.Place, most int64) {
	if n := p.Int(); n <= 0 || n > most {
		r.InvalidAs(p, n, fmt.Sprintf("must be positive and less than %d", most))
	}
}

// bytesIn returns the number of bytes in a text in base64.
func bytesIn(p walk.Place) int {
	decoded, err := base64.StdEncoding.DecodeString(p.Str())
	if err != nil {
		return len(p.Str()) // cannot be: the object was decoded
	}
	return len(decoded)
}

// validateAPIServiceStatus refuses conditions that are neither true, false nor unknown.
func validateAPIServiceStatus(r *walk.Report, object walk.Place, _ value.Value) {
	conditions := object.At("status").At("conditions")
	for i := range conditions.Indexes() {
		r.OnlyAmong(conditions.Index(i).At("status"), "True", "False", "Unknown")
	}
}

// apiServiceBackend shows the service that serves a version.
func apiServiceBackend(s source) string {
	service := s.Get("spec", "service")
	if !walk.IsSet(service) {
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
