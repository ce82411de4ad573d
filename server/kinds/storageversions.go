package kinds

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// StorageVersions: the versions in which the API servers of a cluster store a resource.

// storageVersionName is the name rule of a StorageVersion: GROUP.RESOURCE.
func storageVersionName(name string, _ bool) (wrong []string) {
	i := strings.LastIndex(name, ".")
	if i < 0 {
		return []string{"name must be in the form of <group>.<resource>"}
	}
	for _, detail := range validation.IsDNS1123Subdomain(name[:i]) {
		wrong = append(wrong, "the group segment "+detail)
	}
	for _, detail := range validation.IsDNS1035Label(name[i+1:]) {
		wrong = append(wrong, "the resource segment "+detail)
	}
	return wrong
}

// validateStorageStatus validates the status of a StorageVersion. The paths of conditions lack their name, as in kube-apiserver.
func validateStorageStatus(r *walk.Report, object walk.Place, _ value.Value) {
	status := object.At("status")
	servers, common := status.At("storageVersions"), status.At("commonEncodingVersion")
	met := map[string]bool{}
	agree := servers.Len() > 0
	for i := range servers.Indexes() {
		server := servers.Index(i)
		id := server.At("apiServerID")
		if met[id.Str()] {
			r.Duplicate(id)
		}
		met[id.Str()] = true
		validateServerVersions(r, server)
		agree = agree && server.Get("encodingVersion").Str() == servers.Index(0).Get("encodingVersion").Str()
	}
	switch of := servers.Index(0).Get("encodingVersion").Str(); {
	case !agree && common.IsSet():
		r.Invalid(common, "should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet")
	case agree && !common.IsSet():
		r.InvalidAs(common, nil, "the common encoding version is "+of)
	case agree && common.Str() != of:
		r.Invalid(common, "the actual common encoding version is "+of)
	}
	validateStorageConditions(r, status)
}

// validateServerVersions validates the versions that an API server reads, writes and serves.
func validateServerVersions(r *walk.Report, server walk.Place) {
	id, encoding, decodable, served := server.At("apiServerID"), server.At("encodingVersion"), server.At("decodableVersions"), server.At("servedVersions")
	r.InvalidAs(id, id.Str(), apivalidation.NameIsDNSSubdomain(id.Str(), false)...)
	version := func(p walk.Place) {
		if wrong := wrongVersion(p.Str()); len(wrong) > 0 {
			r.InvalidAs(p, p.Str(), strings.Join(wrong, ","))
		}
	}
	version(encoding)
	for i := range decodable.Indexes() {
		version(decodable.Index(i))
	}
	reads := walk.Texts(decodable.Value)
	if !slices.Contains(reads, encoding.Str()) {
		r.Invalid(decodable, "decodableVersions must include encodingVersion "+encoding.Str())
	}
	for i := range served.Indexes() {
		p := served.Index(i)
		version(p)
		if !slices.Contains(reads, p.Str()) {
			r.InvalidAs(p, p.Str(), fmt.Sprintf("individual served version : %s must be included in decodableVersions : %s", p.Str(), reads))
		}
	}
}

// validateStorageConditions validates the conditions of a StorageVersion.
func validateStorageConditions(r *walk.Report, status walk.Place) {
	conditions, met := status.At("conditions"), map[string]int{}
	for i := range conditions.Indexes() {
		condition := status.Below(conditions.Item(i), "", i)
		kind, state := condition.At("type"), condition.At("status")
		if first, twice := met[kind.Str()]; twice {
			r.InvalidAs(kind, kind.Str(), fmt.Sprintf("the type of the condition is not unique, it also appears in conditions[%d]", first))
		}
		met[kind.Str()] = i
		r.InvalidAs(kind, kind.Str(), validation.IsQualifiedName(kind.Str())...)
		r.InvalidAs(state, state.Str(), validation.IsQualifiedName(state.Str())...)
		r.Present(condition.At("reason"))
		r.Present(condition.At("message"))
	}
}

// wrongVersion returns what is wrong with an apiVersion, in the words of kube-apiserver.
func wrongVersion(apiVersion string) (wrong []string) {
	parts := strings.Split(apiVersion, "/")
	if len(parts) > 2 {
		return []string{"an apiVersion is " + validation.RegexError("a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with "+
			"an alphabetic character, and end with an alphanumeric character", "[a-z]([-a-z0-9]*[a-z0-9])?", "my-name", "abc-123") +
			" with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')"}
	}
	part := func(what, text string, rule func(string) []string) {
		details := rule(text)
		if text == "" {
			details = []string{validation.EmptyError()}
		}
		for _, detail := range details {
			wrong = append(wrong, what+" part: "+detail)
		}
	}
	if len(parts) == 2 {
		part("group", parts[0], validation.IsDNS1123Subdomain)
	}
	part("version", parts[len(parts)-1], validation.IsDNS1035Label)
	return wrong
}

// storageVersions shows the first few API servers with the version that each writes.
func storageVersions(s source) string {
	var out []string
	for server := range s.Get("status", "storageVersions").Items() {
		out = append(out, server.Get("apiServerID").Str()+"="+server.Get("encodingVersion").Str())
	}
	return cmp.Or(withMore(out, 3, ","), unset)
}
