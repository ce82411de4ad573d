package custom

import "github.com/deed-project/deed/value"

// identity lists the members of metadata that only a server writes.
var identity = []string{"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "uid", "selfLink", "generation"}

// Identified returns object, a custom resource, with the metadata that a server keeps for it. live is the stored object, absent for a create:
//
//  1. The members in identity are those of live. A new object has the generation 1 and none of the others.
//  2. A new object has no resourceVersion.
//  3. The generation counts changes outside of metadata. A change of the status counts only if the endpoint writes it. A stored object
//     without a generation, such as one in a file, gets none.
func Identified(live, object value.Value, writesStatus bool) value.Value {
	metadata, was := object.Get("metadata"), live.Get("metadata")
	if metadata.Kind() != value.KindObject {
		return object
	}
	for _, name := range identity {
		metadata = metadata.With(name, was.Get(name))
	}
	if live.IsAbsent() {
		metadata = metadata.With("resourceVersion", value.Value{}).With("generation", value.Int(1))
	} else if n := was.Get("generation"); !n.IsAbsent() && !sameContent(object, live, writesStatus) {
		metadata = metadata.With("generation", value.Int(n.Int()+1))
	}
	return object.With("metadata", metadata)
}

// sameContent reports whether two objects are equal apart from their version, their metadata and, unless it counts, their status.
func sameContent(a, b value.Value, statusCounts bool) bool {
	ignored := []string{"apiVersion", "metadata"}
	if !statusCounts {
		ignored = append(ignored, StatusName)
	}
	for _, name := range ignored {
		a, b = a.With(name, value.Value{}), b.With(name, value.Value{})
	}
	return a.Equal(b)
}
