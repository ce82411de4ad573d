package kinds

import (
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// LeaseCandidates: candidates of a coordinated leader election.

// candidateName is the name rule of a LeaseCandidate.
func candidateName(name string, _ bool) []string { return validation.IsConfigMapKey(name) }

// oldestEmulation is the strategy of Kubernetes: it elects the candidate with the lowest emulated version.
const oldestEmulation = "OldestEmulationVersion"

// validateCandidate validates a LeaseCandidate.
func validateCandidate(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	lease, emulated, binary, strategy := spec.At("leaseName"), spec.At("emulationVersion"), spec.At("binaryVersion"), spec.At("strategy")
	r.Present(lease)
	emulates := candidateVersion(r, emulated)
	if r.Present(binary) {
		if is := candidateVersion(r, binary); emulated.Str() != "" && is.LT(emulates) {
			r.Invalid(binary, "must be greater than or equal to `emulationVersion`")
		}
	}
	if r.Present(strategy) {
		if strategy.Str() == oldestEmulation && emulates.EQ(semver.Version{}) {
			r.Required(emulated, "must be specified when `strategy` is 'OldestEmulationVersion'")
		}
		validateElection(r, strategy)
	}
	if walk.IsSet(live) {
		r.Unchanged(lease, live.Get("spec", "leaseName"))
	}
}

// candidateVersion validates a semantic version, which may be empty, and returns it. A faulty one is 0.0.0.
func candidateVersion(r *walk.Report, p walk.Place) semver.Version {
	if p.Str() == "" {
		return semver.Version{}
	}
	version, err := semver.Parse(p.Str())
	if err != nil {
		r.Invalid(p, "must be a valid semantic version")
	}
	return version
}

// validateElection validates a strategy: one of Kubernetes, or the qualified name of another one. Errors have the field twice, as in
// kube-apiserver.
func validateElection(r *walk.Report, strategy walk.Place) {
	twice := strategy.Below(strategy.Value, "strategy", walk.IsMember)
	if strings.Contains(strategy.Str(), "/") {
		r.InvalidAs(twice, strategy.Str(), validation.IsQualifiedName(strategy.Str())...)
	} else if !slices.Contains([]string{oldestEmulation}, strategy.Str()) {
		r.NotSupported(twice, oldestEmulation)
	}
}
