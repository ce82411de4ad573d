package walk

import (
	"fmt"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// LabelKey validates the name of a label.
func (r *Report) LabelKey(p Place) {
	r.InvalidString(p, p.Str(), validation.IsQualifiedName(p.Str())...)
}

// DriverName validates the name of a CSI driver.
func (r *Report) DriverName(p Place) {
	if !r.Present(p) {
		return
	}
	if len(p.Str()) > LongestDriver {
		r.Add(field.TooLong(p.Path(), "", LongestDriver))
	}
	r.Invalid(p, validation.IsDNS1123Subdomain(strings.ToLower(p.Str()))...)
}

// LongestDriver is how long the name of a driver may be, in bytes.
const LongestDriver = 63

// SignerName validates the name of a signer: a domain, a slash, and a path.
func (r *Report) SignerName(p Place) {
	if !r.Present(p) {
		return
	}
	domain, rest, ok := strings.Cut(p.Str(), "/")
	if !ok || strings.Contains(rest, "/") {
		r.Invalid(p, "must be a fully qualified domain and path of the form 'example.com/signer-name'")
		return
	}
	if len(domain) > validation.DNS1123SubdomainMaxLength {
		r.Add(field.TooLong(p.Path(), "", validation.DNS1123SubdomainMaxLength))
	}
	r.segments(p, domain, domain, validation.IsDNS1123Label)
	if !strings.Contains(domain, ".") {
		r.InvalidAs(p, domain, "should be a domain with at least two segments separated by dots")
	}
	r.segments(p, rest, rest, validation.IsDNS1123Subdomain)
	const longest = 2*validation.DNS1123SubdomainMaxLength + validation.DNS1123LabelMaxLength + 2
	if len(p.Str()) > longest {
		r.Add(field.TooLong(p.Path(), "", longest))
	}
}

// segments validates the parts of a text between dots, up to the first that is wrong.
func (r *Report) segments(p Place, text, shown string, rule func(string) []string) {
	for segment := range strings.SplitSeq(text, ".") {
		if wrong := rule(segment); len(wrong) > 0 {
			for _, detail := range wrong {
				r.InvalidAs(p, shown, fmt.Sprintf("validating label %q: %s", segment, detail))
			}
			return
		}
	}
}

// TrustBundleNameFor returns the rule for names of ClusterTrustBundles of a signer, or of none.
func TrustBundleNameFor(signer string) apivalidation.ValidateNameFunc {
	return func(name string, prefix bool) []string {
		if signer == "" {
			if strings.Contains(name, ":") {
				return []string{"ClusterTrustBundle without signer name must not have \":\" in its name"}
			}
			return apivalidation.NameIsDNSSubdomain(name, prefix)
		}
		required := strings.ReplaceAll(signer, "/", ":") + ":"
		rest, ok := strings.CutPrefix(name, required)
		if !ok {
			return []string{fmt.Sprintf("ClusterTrustBundle for signerName %s must be named with prefix %s", signer, required)}
		}
		return apivalidation.NameIsDNSSubdomain(rest, prefix)
	}
}
