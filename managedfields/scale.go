package managedfields

import (
	"maps"
	"time"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
)

// The Scale object, through which replicas are written.
const scaleVersion = "autoscaling/v1"

var replicasInScale = fieldpath.Path{fieldpath.Field("spec"), fieldpath.Field("replicas")}

// ScaleHandler carries who owns the number of replicas from an object, the parent, to its subresource scale and back. An
// endpoint for scale gives the Scale object the entries of ToSubresource, lets a [FieldManager] for autoscaling/v1 write it,
// and stores in the parent what ToParent makes of the entries that come out.
//
// It does what kube-apiserver does, these surprises included:
//
//   - An owner who is new to scale comes to the parent without a time.
//   - An updater of the parent is not recognized when it comes back from scale, because there its entry says autoscaling/v1.
//     So its entry in the parent loses the replicas, and a second entry with the same identity has them. On the next
//     read only the entry that is sorted last counts, which is the one without the replicas if it has a time.
type ScaleHandler struct {
	parent     []Entry
	apiVersion string
	replicas   map[string]fieldpath.Path
}

// NewScaleHandler returns the handler for an object with the entries parent, which is written as parentAPIVersion. replicas
// has, for each version of the object's kind, where the number of replicas stands: an empty path for versions without scale.
// Entries of versions that it lacks are dropped.
func NewScaleHandler(parent []Entry, parentAPIVersion string, replicas map[string]fieldpath.Path) *ScaleHandler {
	return &ScaleHandler{parent: parent, apiVersion: parentAPIVersion, replicas: maps.Clone(replicas)}
}

// ToSubresource returns the entries of the Scale object: one for each manager that owns the replicas of the parent, with its
// time and its subresource. The error is that of [Decode].
func (h *ScaleHandler) ToSubresource() ([]Entry, error) {
	parent, err := Decode(h.parent)
	if err != nil {
		return nil, err
	}
	var scale []merge.Entry
	for e := range parent.All() {
		if e.Fields.Has(h.replicas[e.APIVersion]) {
			e.Fields, e.APIVersion = fieldpath.SetOf(replicasInScale), scaleVersion
			scale = append(scale, e)
		}
	}
	return Encode(merge.ManagersOf(scale...)), nil
}

// ToParent returns the parent's entries after a write to the Scale object left it with the entries scale. Who owned the
// replicas and is not in scale loses them; who is in scale and did not own them becomes an owner in the parent's version.
// The error is that of [Decode]. It costs n log n for n entries.
func (h *ScaleHandler) ToParent(scale []Entry) ([]Entry, error) {
	before, err := Decode(h.parent)
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
		path, known := h.replicas[e.APIVersion]
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
			e.Fields, e.APIVersion, e.Time = fieldpath.SetOf(h.replicas[h.apiVersion]), h.apiVersion, times[e.Manager]
			after = append(after, e)
		}
	}
	return Encode(merge.ManagersOf(after...)), nil
}
