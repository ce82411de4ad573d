package devices

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// ResourcePoolStatusRequests. Nearly all their rules are tags of the type, so the errors come after the others.

// How much a status says at most.
const (
	mostPools          = 1000
	mostPoolConditions = 10
	mostPartitions     = 32 // also of capacities
	longestPoolError   = 256
	mostPoolsAsked     = 1000
	poolNameLength     = 253
)

// ValidatePoolRequest validates a ResourcePoolStatusRequest.
func ValidatePoolRequest(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	if walk.IsSet(live) {
		r.UnchangedLater(spec, live.Get("spec"))
		return
	}
	caselessLater(r, spec.At("driver"))
	poolNameLater(r, spec.At("poolName"))
	limit := spec.At("limit")
	if limit.IsSet() && limit.Int() > mostPoolsAsked {
		r.InvalidLater(limit, limit.Int(), content.MaxError(mostPoolsAsked))
	}
	atLeastLater(r, limit, 1)
}

// ValidatePoolRequestStatus validates the status of a ResourcePoolStatusRequest, which is set once.
func ValidatePoolRequestStatus(r *walk.Report, object walk.Place, live value.Value) {
	status, was := object.At("status"), live.Get("status")
	if walk.IsSet(was) {
		r.Unchanged(status, was)
	} else {
		walk.ValidateConditions(r, object, live)
	}
	if !status.IsSet() || r.Same(status, was) {
		return
	}
	presentLater(r, status.At("poolCount"))
	pools := atMostLater(r, status.At("pools"), mostPools)
	for i := range pools.Indexes() {
		validatePoolStatus(r, pools.Index(i))
	}
	atMostLater(r, status.At("conditions"), mostPoolConditions)
}

// validatePoolStatus validates what a status says of a pool.
func validatePoolStatus(r *walk.Report, pool walk.Place) {
	caselessLater(r, pool.At("driver"))
	if name := pool.At("poolName"); name.Str() == "" {
		r.RequiredLater(name, "")
	} else {
		poolNameLater(r, name)
	}
	if generation := pool.At("generation"); generation.Int() == 0 {
		r.RequiredLater(generation, "")
	} else {
		atLeastLater(r, generation, 0)
	}
	atLeastLater(r, pool.At("resourceSliceCount"), 1)
	for _, name := range [...]string{"totalDevices", "allocatedDevices", "availableDevices", "unavailableDevices"} {
		atLeastLater(r, pool.At(name), 0)
	}
	if node := pool.At("nodeName"); node.IsSet() {
		for _, detail := range content.IsDNS1123Subdomain(node.Str()) {
			r.InvalidLater(node, node.Str(), detail)
		}
	}
	r.BytesLater(pool.At("validationError"), longestPoolError)
	ofPartition := func(v value.Value) any { return [2]string{v.Get("attribute").Str(), v.Get("type").Str()} }
	onceLater(r, pool.At("partitionSummary"), mostPartitions, ofPartition, func(partition walk.Place) {
		for _, name := range [...]string{"attribute", "type"} {
			if p := partition.At(name); p.Str() == "" {
				r.RequiredLater(p, "")
			}
		}
		presentLater(r, partition.At("total"))
		presentLater(r, partition.At("allocatable"))
	})
	shareable := pool.At("shareableSummary")
	if !shareable.IsSet() {
		return
	}
	presentLater(r, shareable.At("fullyAvailableDevices"))
	presentLater(r, shareable.At("partiallyAvailableDevices"))
	capacity := atMostLater(r, shareable.At("capacity"), mostPartitions)
	for i := range capacity.Indexes() {
		item := capacity.Index(i)
		if name := item.At("name"); name.Str() == "" {
			r.RequiredLater(name, "")
		}
		for _, name := range [...]string{"total", "consumed", "available"} {
			if p := item.At(name); !p.IsSet() {
				r.RequiredLater(p, "")
			}
		}
	}
}

// presentLater refuses a number that is absent or negative.
func presentLater(r *walk.Report, p walk.Place) {
	if !p.IsSet() {
		r.RequiredLater(p, "")
	}
	atLeastLater(r, p, 0)
}

// atLeastLater refuses a number that is too small.
func atLeastLater(r *walk.Report, p walk.Place, least int) {
	if p.IsSet() && p.Int() < int64(least) {
		r.InvalidLater(p, p.Int(), content.MinError(least))
	}
}

// caselessLater refuses what is no DNS subdomain, in which letters may be large.
func caselessLater(r *walk.Report, p walk.Place) {
	if p.Str() == "" {
		r.RequiredLater(p, "")
		return
	}
	//lint:ignore SA1019 kube-apiserver validates the names of drivers with this rule
	for _, detail := range content.IsDNS1123SubdomainCaseless(p.Str()) {
		r.InvalidLater(p, p.Str(), detail)
	}
}

// poolNameLater refuses what is set and is no name of a pool: DNS subdomains with slashes between them.
func poolNameLater(r *walk.Report, p walk.Place) {
	if !p.IsSet() {
		return
	}
	if len(p.Str()) > poolNameLength {
		r.Later(field.TooLong(p.Path(), p.Str(), poolNameLength))
	}
	for i, segment := range strings.Split(p.Str(), "/") {
		if segment == "" {
			r.InvalidLater(p, p.Str(), fmt.Sprintf("segment %d: must not be empty", i))
			continue
		}
		for _, detail := range content.IsDNS1123Subdomain(segment) {
			r.InvalidLater(p, segment, fmt.Sprintf("segment %d: %s", i, detail))
		}
	}
}
