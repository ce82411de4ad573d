package builtin

import (
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Prepare returns the object to store when a client writes object through a subresource, or through the main endpoint if that is empty.
// object must be a result of [Kind.Held]. live is absent if the object does not exist yet. sent is the value that object was read from. The
// result lacks values that a server allocates or admission sets, such as a uid and times. The steps are:
//
//  1. keepIdentity keeps the metadata that clients do not write.
//  2. restore keeps other fields that the endpoint does not write, as they are in live.
//  3. withoutGated drops fields whose gate is off.
//  4. prepared applies the rules of the kind.
//  5. generation counts changes.
func (k *Kind) Prepare(subresource string, live, sent, object value.Value) value.Value {
	if k.Form() == nil {
		return object
	}
	subresource = strategyOf(subresource, live.IsAbsent())
	unprepared := object
	object = k.prepare(subresource, live, sent, object)
	if !k.CountsUnprepared() {
		unprepared = object
	}
	stored, err := k.Stored(unprepared)
	if err != nil {
		return object // unreachable: the object is held
	}
	return k.counted(subresource, live, sent, stored, object)
}

// strategyOf returns the subresource whose strategy a write through a subresource has. An object is created in the same way through all of them.
func strategyOf(subresource string, isNew bool) string {
	if isNew {
		return ""
	}
	return subresource
}

// Store returns the object that a server reads back after it stored the result of Prepare. The error is a [*ConvertError].
func (k *Kind) Store(subresource string, live, sent, object value.Value) (value.Value, error) {
	return k.known().storeLike(subresource, live, sent, object, value.Value{})
}

// storeLike is Store for an object that may share members with known, a value that a server read back. Shared members are not read again.
// known may be absent.
func (k *Kind) storeLike(subresource string, live, sent, object, known value.Value) (value.Value, error) {
	subresource = strategyOf(subresource, live.IsAbsent())
	stored, err := k.storedLike(k.prepare(subresource, live, sent, object), known)
	counted := stored
	if err == nil && k.CountsUnprepared() {
		counted, err = k.storedLike(object, known)
	}
	if err != nil {
		return value.Value{}, err
	}
	object = k.counted(subresource, live, sent, counted, stored)
	if k.IsDecorated() && subresource == "" && !live.IsAbsent() {
		object = withFamiliesOf(live, object)
	}
	return k.Shown(object), nil
}

// prepare is Prepare without counting.
func (k *Kind) prepare(subresource string, live, sent, object value.Value) value.Value {
	object = keepIdentity(live, object, k.Namespaced)
	for path := range k.reset[subresource].Exclude.All() {
		if (!live.IsAbsent() || !k.createKeeps(path)) && !k.judges(subresource, path) {
			object = restore(live, object, path, k.GVK.Group != flowGroup)
		}
	}
	if k.GVK.Kind != "Pod" || subresource != "status" || k.Minor() >= minorOf(podStatusGatedSince) {
		object = k.withoutInitAnnotations(k.withoutImageVolumes(live, k.withoutGated(live, object)))
	}
	if prepare := prepared[schema.GVK{Group: k.GVK.Group, Kind: k.GVK.Kind}]; prepare != nil {
		object = prepare(k, subresource, live, object)
	}
	for _, path := range clearedEmpty[clearing{k.GVK.Kind, subresource}] {
		if v := sent.Get(path...); v.Kind() == value.KindList && v.Len() == 0 {
			object = withAt(object, path, value.Value{})
		}
	}
	return object
}

// clearing is a kind and a subresource.
type clearing struct{ kind, subresource string }

// clearedEmpty are the lists that an update keeps if it leaves them out, and clears if it has them empty. A held object has no empty list, so
// that only the sent one tells.
var clearedEmpty = map[clearing][][]string{
	{"Pod", "status"}: {{"status", "resourceClaimStatuses"}, {"status", "nodeAllocatableResourceClaimStatuses"}},
}

// podStatusGatedSince is the first release in which an update of the status of a pod drops the fields of gates that are off.
const podStatusGatedSince = "v1.33"

// WithEmpties returns object as the Go type of the kind holds it before it is stored. It adds the empty lists and maps of sent that
// printing leaves out. object is the result of [Kind.Prepare] for sent and a subresource, or the main endpoint if that is empty. isNew
// means that there is no live object. Fields that the endpoint does not write stay unchanged. The result is object itself if sent has no
// such list or map.
//
// Cost: linear in the size of sent.
func (k *Kind) WithEmpties(subresource string, isNew bool, object, sent value.Value) value.Value {
	k = k.known()
	t := k.Form()
	if t == nil {
		return object
	}
	subresource = strategyOf(subresource, isNew)
	for path := range k.reset[subresource].Exclude.All() {
		if (!isNew || !k.createKeeps(path)) && !k.judges(subresource, path) {
			sent = restore(value.Value{}, sent, path, false)
		}
	}
	if k.GVK.Kind == "Pod" {
		sent = podWritten(subresource, sent)
	}
	if metadata := sent.Get("metadata"); !metadata.Get("creationTimestamp").IsAbsent() { // clients do not write it
		sent = sent.With("metadata", metadata.With("creationTimestamp", value.Value{}))
	}
	if w := k.gated(); len(w) > 0 { // dropped fields must not come back
		kept := w.find(object, value.Value{})
		sent = w.drop(sent, slices.DeleteFunc(w.find(sent, object), func(name string) bool { return slices.Contains(kept, name) }))
	}
	sent = k.withoutImageVolumes(object, sent)
	for _, path := range emptyCounts[k.GVK.Kind] {
		if v := sent.Get(path...); v.Kind() == value.KindList && v.Len() == 0 {
			object = withAt(object, path, v)
		}
	}
	object = t.WithEmpties(object, sent)
	if k.GVK.Kind == "Pod" {
		for _, list := range [...]string{"containers", "initContainers"} {
			object = withEmptyRequests(object, list)
		}
	}
	return object
}

// withEmptyRequests returns pod with empty requests for each container that has empty limits and no requests. The limits are the defaults
// of the requests.
func withEmptyRequests(pod value.Value, list string) value.Value {
	containers := pod.Get("spec", list)
	for i := range containers.Len() {
		resources := containers.Item(i).Get("resources")
		if limits := resources.Get("limits"); limits.Kind() == value.KindObject && limits.Len() == 0 && resources.Get("requests").IsAbsent() {
			items := slices.Collect(containers.Items())
			items[i] = items[i].With("resources", resources.With("requests", value.Object()))
			containers = value.List(items...)
			pod = withAt(pod, []string{"spec", list}, containers)
		}
	}
	return pod
}

// emptyCounts are the lists that get their defaults only if they are absent: the rules of defaults.txt with :=. Stored objects are read
// without empty lists, so that the default has already replaced an empty one.
var emptyCounts = map[string][][]string{
	"HorizontalPodAutoscaler": {{"spec", "behavior", "scaleUp", "policies"}, {"spec", "behavior", "scaleDown", "policies"}},
}

// withAt returns object with v at path.
func withAt(object value.Value, path []string, v value.Value) value.Value {
	if len(path) > 0 {
		v = withAt(object.Get(path[0]), path[1:], v)
		return object.With(path[0], v)
	}
	return v
}

// KeepsMetadata reports whether an update keeps a member of the live object's metadata and ignores the sent value. The update goes through
// a subresource, or through the main endpoint if that is empty. The members are the uid, selfLink, and those of a pending deletion.
//
// An endpoint that resets metadata keeps the deletion timestamp and selfLink. Only the status endpoints of priority and fairness keep the other
// members: elsewhere validation refuses a change of them. The endpoints for containers of a pod reset metadata, although their managers own it.
func (k *Kind) KeepsMetadata(subresource, member string) bool {
	reset := member == "deletionTimestamp" || member == "selfLink"
	if k = k.known(); k.GVK.Kind == "Pod" && (subresource == "ephemeralcontainers" || subresource == "resize") {
		return reset
	}
	for path := range k.reset[subresource].Exclude.All() {
		switch {
		case path[0].Name() != "metadata":
		case len(path) > 1 && path[1].Name() == member:
			return true
		case len(path) == 1 && (reset || k.GVK.Group == flowGroup):
			return true
		}
	}
	return false
}

// flowGroup is the group of priority and fairness, whose status endpoints write no metadata.
const flowGroup = "flowcontrol.apiserver.k8s.io"

// createKeeps reports whether a create keeps the value at path, although updates do not write it. A create keeps everything but the status.
// It also keeps the status of a Node, which kubelets create. preparedPod takes the class from the status of a Pod.
func (k *Kind) createKeeps(path fieldpath.Path) bool {
	return path[0].Name() != "status" || k.GVK.Kind == "Node" || k.keepsServiceClass()
}

// judges reports whether the server validates the value that a subresource writes to path, and does not restore the field. The manager of
// the write does not own the field.
func (k *Kind) judges(subresource string, path fieldpath.Path) bool {
	return k.GVK.Kind == signingRequest && subresource == "status" && len(path) == 2 && path[1].Name() == "conditions"
}

// counted returns object with its generation. stored is the stored form of the object. A write of a status is not a change.
func (k *Kind) counted(subresource string, live, sent, stored, object value.Value) value.Value {
	if subresource == "status" {
		return object
	}
	n, counts := k.generation(live, sent, stored)
	if !counts {
		return object
	}
	generation := value.Value{}
	if n != 0 {
		generation = value.Int(n)
	}
	return object.With("metadata", object.Get("metadata").With("generation", generation))
}

// keepIdentity copies the metadata that only a server writes from live to object. A new object has none of it.
func keepIdentity(live, object value.Value, namespaced bool) value.Value {
	metadata, was := object.Get("metadata"), live.Get("metadata")
	if !metadata.Same(was) {
		for _, name := range []string{"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "uid"} {
			metadata = metadata.With(name, was.Get(name))
		}
		if live.IsAbsent() {
			metadata = metadata.With("resourceVersion", value.Value{})
		} else {
			metadata = metadata.With("generation", was.Get("generation"))
		}
	}
	metadata = metadata.With("selfLink", value.Value{})
	if !namespaced {
		metadata = metadata.With("namespace", value.Value{})
	}
	return object.With("metadata", metadata)
}

// restore sets the member of object at path to its value in live, or removes it. See keepMetadata for metadata.
func restore(live, object value.Value, path fieldpath.Path, freePrefix bool) value.Value {
	if len(path) == 0 {
		return object
	}
	name := path[0].Name()
	if len(path) == 1 {
		if name == "metadata" {
			return object.With(name, keepMetadata(live.Get(name), object.Get(name), freePrefix))
		}
		return object.With(name, live.Get(name))
	}
	member, was := object.Get(name), live.Get(name)
	if restored := restore(was, member, path[1:], freePrefix); restored.Len() > 0 || !member.IsAbsent() {
		return object.With(name, restored)
	}
	return object
}

// keepMetadata returns was with the resourceVersion of metadata. If freePrefix is set, it also takes generateName from metadata.
func keepMetadata(was, metadata value.Value, freePrefix bool) value.Value {
	if v := metadata.Get("resourceVersion"); !v.IsAbsent() {
		was = was.With("resourceVersion", v)
	}
	if freePrefix {
		was = was.With("generateName", metadata.Get("generateName"))
	}
	return was
}

// generations has the kinds whose objects count how often the values at the paths changed. Every other kind keeps the generation that a
// client created the object with.
var generations = map[schema.GVK][][]string{
	{Kind: "Pod"}:                                                                     {{"spec"}},
	{Kind: "PodTemplate"}:                                                             {{"template"}},
	{Kind: "ReplicationController"}:                                                   {{"spec"}},
	{Group: "apps", Kind: "DaemonSet"}:                                                {{"spec"}},
	{Group: "apps", Kind: "Deployment"}:                                               {{"spec"}, {"metadata", "annotations"}},
	{Group: "apps", Kind: "ReplicaSet"}:                                               {{"spec"}},
	{Group: "apps", Kind: "StatefulSet"}:                                              {{"spec"}},
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}:                           {{"spec"}},
	{Group: "batch", Kind: "CronJob"}:                                                 {{"spec"}},
	{Group: "batch", Kind: "Job"}:                                                     {{"spec"}},
	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicy"}:          {{"spec"}},
	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicyBinding"}:   {{"spec"}},
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy"}:        {{"spec"}},
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicyBinding"}: {{"spec"}},
	{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}:     {{"webhooks"}},
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}:   {{"webhooks"}},
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}:                 {{"spec"}},
	{Group: "discovery.k8s.io", Kind: "EndpointSlice"}: {
		{"addressType"}, {"endpoints"}, {"ports"}, {"metadata", "labels"},
	},
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "FlowSchema"}:                 {{"spec"}},
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "PriorityLevelConfiguration"}: {{"spec"}},
	{Group: "networking.k8s.io", Kind: "Ingress"}:                               {{"spec"}},
	{Group: "networking.k8s.io", Kind: "IngressClass"}:                          {{"spec"}},
	{Group: "networking.k8s.io", Kind: "NetworkPolicy"}:                         {{"spec"}},
	{Group: "policy", Kind: "PodDisruptionBudget"}:                              {{"spec"}},
	{Group: "resource.k8s.io", Kind: "DeviceClass"}:                             {{"spec"}},
	{Group: "resource.k8s.io", Kind: "DeviceTaintRule"}:                         {{"spec"}},
	{Group: "resource.k8s.io", Kind: "ResourceSlice"}:                           {{"spec"}},
	{Group: "scheduling.k8s.io", Kind: "PriorityClass"}:                         {},
	{Group: "storage.k8s.io", Kind: "CSIDriver"}:                                {{"spec"}},
}

// createdUncounted are kinds that count only changes. A new object has the generation that the client sent.
var createdUncounted = map[schema.GVK]bool{{Group: "storage.k8s.io", Kind: "CSIDriver"}: true}

// countedSince has the first release in which a kind counts, for kinds that do not count in all releases.
var countedSince = map[schema.GVK]string{{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}: "v1.37"}

// generation returns how often an object has changed, and whether its kind counts that.
func (k *Kind) generation(live, sent, stored value.Value) (n int64, counts bool) {
	kind := schema.GVK{Group: k.GVK.Group, Kind: k.GVK.Kind}
	paths, counts := generations[kind]
	counts = counts && minorOf(countedSince[kind]) <= k.Minor()
	n = live.Get("metadata", "generation").Int()
	switch {
	case !counts:
	case live.IsAbsent():
		return 1, !createdUncounted[kind]
	case k.changed(live, stored, paths), k.sendsEmpty(sent, stored):
		n++
	}
	return n, counts
}

// CountsUnprepared reports whether the kind counts changes in the sent object, and not only in the stored one. Examples are the topology of
// endpoints, and fields of gates that are off.
func (k *Kind) CountsUnprepared() bool {
	kind := k.known().GVK.Kind
	return kind == "EndpointSlice" || kind == "ResourceSlice"
}

// countsEmpty are kinds that distinguish an empty list from an absent one when they count changes, although storage does not.
var countsEmpty = map[schema.GVK]bool{
	{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}:   true,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}: true,
	{Group: "networking.k8s.io", Kind: "NetworkPolicy"}:                             true,
}

// sendsEmpty reports whether sent has an empty list or map that the kind counts, and that no default replaces in stored. stored was made
// from sent.
func (k *Kind) sendsEmpty(sent, stored value.Value) bool {
	kind := schema.GVK{Group: k.GVK.Group, Kind: k.GVK.Kind}
	if !countsEmpty[kind] {
		return false
	}
	part := generations[kind][0][0]
	return k.Form().Member(part).Unlike(sent.Get(part), stored.Get(part))
}

// changed reports whether the values at one of the paths differ in two objects, as they are stored. Other spellings of quantities do not count.
func (k *Kind) changed(live, stored value.Value, paths [][]string) bool {
	types := k.Form()
	if !k.hub {
		hub, _ := Lookup(schema.ParseGVK(k.Hub, k.GVK.Kind))
		converted, err := k.Convert(live, hub)
		if err != nil {
			return true // live is not an object of the kind
		}
		live = converted
		if stored, err = k.Convert(stored, hub); err != nil {
			return true // unreachable: it was converted before
		}
		types = hub.Form()
	}
	for _, path := range paths {
		is, was, t := stored.Get(path...), live.Get(path...), types
		if is.Equal(was) {
			continue
		}
		for _, name := range path {
			t = t.Member(name)
		}
		if !t.Same(is, was) {
			return true
		}
	}
	return false
}
