package pods

import (
	"fmt"
	"math"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/kinds/walk"
)

// projected validates several sources that become files of one volume.
func (w *volumeWalk) projected(s walk.Place) {
	validateMode(w.Report, s.At("defaultMode"))
	validateUser(w.Report, s, "defaultUser")
	files := projectedFiles{volumeWalk: w, volume: s}
	sources := s.At("sources")
	for i := range sources.Indexes() {
		files.source(sources.Index(i))
	}
}

// projectedFiles has the paths of the files of a projected volume.
type projectedFiles struct {
	*volumeWalk
	volume walk.Place
	paths  walk.Names
}

// unique refuses a path that another source has; the error shows a value.
func (f *projectedFiles) unique(at, shown string) {
	if !f.paths.Add(at) {
		f.InvalidAs(f.volume, shown, "conflicting duplicate paths")
	}
}

func (f *projectedFiles) source(source walk.Place) {
	n := 0
	for _, name := range [...]string{"secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate"} {
		s := source.At(name)
		if !s.IsSet() {
			continue
		}
		n++
		switch name {
		case "secret", "configMap":
			f.Present(s.At("name"))
			items := s.At("items")
			for i := range items.Indexes() {
				item := items.Index(i)
				if f.file(item); item.Text("path") != "" {
					f.unique(item.Text("path"), s.Text("name"))
				}
			}
		case "downwardAPI":
			for item := range s.Get("items").Items() {
				s.Value = item
				if f.podFile(s); s.Text("path") != "" {
					f.unique(s.Text("path"), s.Text("path"))
				}
			}
		case "serviceAccountToken":
			f.token(s)
		case "clusterTrustBundle":
			f.trustBundle(s)
		case "podCertificate":
			f.certificate(s)
		}
	}
	if n > 1 {
		f.Forbidden(source, "may not specify more than 1 volume type per source")
	}
}

func (f *projectedFiles) token(s walk.Place) {
	switch seconds := s.At("expirationSeconds"); {
	case !seconds.IsSet():
		f.Required(seconds, "")
	case seconds.Int() < 600:
		f.Invalid(seconds, "may not specify a duration less than 10 minutes")
	case seconds.Int() > 1<<32:
		f.Invalid(seconds, "may not specify a duration larger than 2^32 seconds")
	}
	at := f.volume.Below(s.Get("path"), "path", walk.IsMember) // where the error is
	if f.Present(at) {
		validateReserved(f.volumeWalk.Report, at, at)
	}
	validateUser(f.volumeWalk.Report, s, "user")
}

func (f *projectedFiles) trustBundle(s walk.Place) {
	name, signer, selector := s.At("name"), s.At("signerName"), s.At("labelSelector")
	switch {
	case name.IsSet() && signer.IsSet():
		f.Invalid(s, "only one of name and signerName may be used")
	case name.IsSet():
		if name.Str() == "" {
			f.Required(name, "must be a valid object name")
		}
		for _, wrong := range trustBundleName(name.Str()) {
			f.Invalid(name, "not a valid clustertrustbundlename: "+wrong)
		}
		if selector.IsSet() {
			f.Invalid(selector, "labelSelector must be unset if name is specified")
		}
	case signer.IsSet():
		if signer.Str() == "" {
			f.Required(signer, "must be a valid signer name")
		}
		f.SignerName(signer)
		if selector.IsSet() {
			f.Selector(selector)
		}
	default:
		f.Required(s, "either name or signerName must be specified")
	}
	at := s.At("path")
	f.Present(at)
	validateUser(f.volumeWalk.Report, s, "user")
	validateReserved(f.volumeWalk.Report, at, at)
	f.unique(at.Str(), at.Str())
}

// validateUser validates who owns a file, or the files of a volume.
func validateUser(r *walk.Report, p walk.Place, member string) {
	r.Within(p.At(member), 0, math.MaxInt32)
}

// Limits of the life of certificates, in seconds.
const (
	shortestCertificate = 3600
	longestCertificate  = 91 * 86400
	longestOfKubernetes = 86400
)

var keyTypes = []string{"RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"}

func (f *projectedFiles) certificate(s walk.Place) {
	signer := s.At("signerName")
	f.SignerName(signer)
	if annotations := s.At("userAnnotations"); annotations.IsSet() {
		ValidateUserAnnotations(f.volumeWalk.Report, annotations)
	}
	validateUser(f.volumeWalk.Report, s, "user")
	f.TextAmong(s.At("keyType"), keyTypes...)
	if seconds := s.At("maxExpirationSeconds"); seconds.IsSet() {
		longest := longestCertificateOf(signer.Str())
		if seconds.Int() < shortestCertificate {
			f.Invalid(seconds, "if provided, maxExpirationSeconds must be >= 3600")
		}
		if seconds.Int() > longest {
			f.Invalid(seconds, fmt.Sprintf("if provided, maxExpirationSeconds must be <= %d", longest))
		}
	}
	n := 0
	for _, name := range [...]string{"credentialBundlePath", "keyPath", "certificateChainPath"} {
		if at := s.At(name); at.Str() != "" {
			n++
			validateReserved(f.volumeWalk.Report, at, at)
			f.unique(at.Str(), at.Str())
		}
	}
	if n == 0 {
		f.Required(s, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath")
	}
}

func longestCertificateOf(signer string) int64 {
	if domain, _, _ := strings.Cut(signer, "/"); domain == "kubernetes.io" || strings.HasSuffix(domain, ".kubernetes.io") {
		return longestOfKubernetes
	}
	return longestCertificate
}

// ValidateUserAnnotations validates annotations that a signer gets.
func ValidateUserAnnotations(r *walk.Report, p walk.Place) {
	all := make(map[string]string, p.Len())
	for name, text := range p.Members() {
		all[name] = text.Str()
		r.Errs = append(r.Errs, validation.IsDomainPrefixedKey(p.Path(), strings.ToLower(name))...)
	}
	if err := apivalidation.ValidateAnnotationsSize(all); err != nil {
		r.Add(field.TooLong(p.Path(), "", apivalidation.TotalAnnotationSizeLimitB))
	}
}

// trustBundleName returns what is wrong with the name of a ClusterTrustBundle: one of a signer begins with its name.
func trustBundleName(name string) []string {
	signer, _ := signerOfBundle(name)
	return walk.TrustBundleNameFor(signer)(name, false)
}

// signerOfBundle returns the signer that the name of a ClusterTrustBundle names.
func signerOfBundle(name string) (string, bool) {
	end := strings.LastIndex(name, ":")
	if end < 0 {
		return "", false
	}
	return strings.ReplaceAll(name[:end], ":", "/"), true
}
