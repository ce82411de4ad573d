package managedfields

import (
	"time"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
)

// The subresource scale is another object, a Scale. For each request, its managed fields are
// computed from those of its parent, and carried back after it. In the example, ann owns the
// replicas of a Deployment, and hpa writes them through scale:
//
//	parent before   ann Apply apps/v1: .spec.replicas .spec.paused
//	scale           ann Apply autoscaling/v1: .spec.replicas
//	after a write   hpa Update autoscaling/v1, subresource scale: .spec.replicas
//	parent after    ann Apply apps/v1: .spec.paused
//	                hpa Update apps/v1, subresource scale: .spec.replicas

// scaleVersion is the apiVersion of the Scale object, through which clients write replicas.
const scaleVersion = "autoscaling/v1"

var replicasInScale = fieldpath.Path{fieldpath.Field("spec"), fieldpath.Field("replicas")}

// ScaleEntries returns the entries of the subresource scale for a parent object with the entries
// parent. It returns one entry for each manager that owns the number of replicas, with the
// manager's time and subresource. replicas has the path of that number for each version of the
// object's kind: an empty path for versions without scale. The error is that of [Decode].
//
// An endpoint for scale gives the Scale object these entries and lets a [FieldManager] for
// autoscaling/v1 write it. It then passes the new entries to [EntriesAfterScale], and stores the
// result in the parent.
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

// EntriesAfterScale returns the entries of the parent object after a write to its subresource
// scale. The object had the entries parent before, and is written as apiVersion. scale are the
// entries of the Scale object after the write. replicas is that of [ScaleEntries]. The error is
// that of [Decode].
//
// A manager that owned the replicas and has no entry in scale loses them. A manager that owns them
// in scale alone becomes an owner in apiVersion. Entries of versions that replicas lacks are
// dropped.
//
// The function does what kube-apiserver does, with these surprises:
//
//   - An owner that is new to the parent comes there without a time.
//   - An updater of the parent is not recognized when it comes back from scale, because its entry
//     there says autoscaling/v1. Its entry in the parent loses the replicas, and a second entry
//     with the same identity has them. On the next read only the entry that is sorted last counts.
//     That is the entry without the replicas, if it has a time.
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
