package managedfields

import (
	"time"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
)

// The subresource scale is another object, a Scale, and its managed fields are made up from those
// of its parent for each request, and put back after it. With ann as the owner of the replicas of a
// Deployment, and hpa writing them through scale:
//
//	parent before   ann Apply apps/v1: .spec.replicas .spec.paused
//	scale           ann Apply autoscaling/v1: .spec.replicas
//	after a write   hpa Update autoscaling/v1, subresource scale: .spec.replicas
//	parent after    ann Apply apps/v1: .spec.paused
//	                hpa Update apps/v1, subresource scale: .spec.replicas

// The Scale object, through which replicas are written.
const scaleVersion = "autoscaling/v1"

var replicasInScale = fieldpath.Path{fieldpath.Field("spec"), fieldpath.Field("replicas")}

// ScaleEntries returns the entries of the subresource scale of an object with the entries parent:
// one for each manager that owns the number of replicas, with its time and its subresource.
// replicas has, for each version of the object's kind, where that number stands: an empty path for
// versions without scale. The error is that of [Decode].
//
// An endpoint for scale gives the Scale object these entries, lets a [FieldManager] for
// autoscaling/v1 write it, and stores in the parent what [EntriesAfterScale] makes of the entries
// that come out.
func ScaleEntries(parent []Entry, replicas map[string]fieldpath.Path) ([]Entry, error) {
	owners, err := Decode(parent)
	if err != nil {
		return nil, err
	}
	var scale []merge.Entry
	for e := range owners.All() {
		if e.Fields.Has(replicas[e.APIVersion]) {
			e.Fields, e.APIVersion = fieldpath.SetOf(replicasInScale), scaleVersion
			scale = append(scale, e)
		}
	}
	return Encode(merge.ManagersOf(scale...)), nil
}

// EntriesAfterScale returns the entries of an object, written as apiVersion, that had the entries
// parent, after a write to its subresource scale left that with the entries scale. replicas is that
// of [ScaleEntries]. Who owned the replicas and is not in scale loses them; who is in scale and did
// not own them becomes an owner in apiVersion; entries of versions that replicas lacks are dropped.
// The error is that of [Decode].
//
// It does what kube-apiserver does, these surprises included:
//
//   - An owner who is new to scale comes to the parent without a time.
//   - An updater of the parent is not recognized when it comes back from scale, because there its
//     entry says autoscaling/v1. So its entry in the parent loses the replicas, and a second entry
//     with the same identity has them. On the next read only the entry that is sorted last counts,
//     which is the one without the replicas if it has a time.
//
// Cost: n log n for n entries.
func EntriesAfterScale(parent, scale []Entry, apiVersion string, replicas map[string]fieldpath.Path) ([]Entry, error) {
	before, err := Decode(parent)
	if err != nil {
		return nil, err
	}
	writers, err := Decode(scale)
	if err != nil {
		return nil, err
	}
	newOwners, times := map[merge.Manager]bool{}, map[merge.Manager]time.Time{}
	for e := range writers.All() {
		newOwners[e.Manager] = e.Fields.Has(replicasInScale)
	}
	var after []merge.Entry
	for e := range before.All() {
		times[e.Manager] = e.Time
		path, known := replicas[e.APIVersion]
		if !known {
			continue
		}
		if e.Fields.Has(path) {
			if _, kept := newOwners[e.Manager]; kept {
				delete(newOwners, e.Manager)
			} else if e.Fields = e.Fields.Minus(fieldpath.SetOf(path)); e.Fields.IsEmpty() {
				continue
			}
		}
		after = append(after, e)
	}
	for e := range writers.All() {
		if newOwners[e.Manager] {
			e.Fields, e.APIVersion, e.Time = fieldpath.SetOf(replicas[apiVersion]), apiVersion, times[e.Manager]
			after = append(after, e)
		}
	}
	return Encode(merge.ManagersOf(after...)), nil
}
