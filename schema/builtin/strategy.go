package builtin

import (
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Prepare returns what is to be stored of object, which is as [Kind.Held] returns it, when it is written through a subresource, or itself
// if that is empty: with what the endpoint does not write as it is in live, and with what the server keeps up to date. An absent live is
// an object that does not exist yet; sent is what object was read from. What a server allocates and admission sets is not there: a uid,
// for instance, and times.
//
// In order: the metadata of the live object stays as far as clients do not write it (keepIdentity), what the endpoint does not write
// stays (restore), the kind's own rules hold (prepared), and changes are counted (generation).
func (k *Kind) Prepare(subresource string, live, sent, object value.Value) value.Value {
	if k.Form() == nil {
		return object
	}
	unprepared := object
	object = k.prepare(subresource, live, object)
	if !k.countsUnprepared() {
		unprepared = object
	}
	stored, err := k.Stored(unprepared)
	if err != nil {
		return object // cannot be: the object is held
	}
	return k.counted(subresource, live, sent, stored, object)
}

// Store returns what a server reads back after it stored what Prepare makes of object. The error is a [*ConvertError].
func (k *Kind) Store(subresource string, live, sent, object value.Value) (value.Value, error) {
	return k.known().storeLike(subresource, live, sent, object, value.Value{})
}

// storeLike is Store for an object that is what a server reads back already, known, or for an absent known.
func (k *Kind) storeLike(subresource string, live, sent, object, known value.Value) (value.Value, error) {
	stored, err := k.storedLike(k.prepare(subresource, live, object), known)
	counted := stored
	if err == nil && k.countsUnprepared() {
		counted, err = k.storedLike(object, known)
	}
	if err != nil {
		return value.Value{}, err
	}
	return k.Shown(k.counted(subresource, live, sent, counted, stored)), nil
}

// prepare is Prepare without counting.
func (k *Kind) prepare(subresource string, live, object value.Value) value.Value {
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
	return object
}

// podStatusGatedSince is the release since which an update of the status of a pod drops the fields of gates that are off.
const podStatusGatedSince = "v1.33"

// WithEmpties returns object as the Go type of the kind holds it before it is stored: with the empty lists and maps of sent that printing
// leaves out. Object is what [Kind.Prepare] made of sent for a write through a subresource, or through the main endpoint if that is empty;
// isNew tells that it replaces nothing. What the endpoint does not write stays as it is. It takes time in proportion to sent, and
// shares object if sent has no such list or map.
func (k *Kind) WithEmpties(subresource string, isNew bool, object, sent value.Value) value.Value {
	k = k.known()
	t := k.Form()
	if t == nil {
		return object
	}
	for path := range k.reset[subresource].Exclude.All() {
		if (!isNew || !k.createKeeps(path)) && !k.judges(subresource, path) {
			sent = restore(value.Value{}, sent, path, false)
		}
	}
	if k.GVK.Kind == "Pod" {
		sent = podWritten(subresource, sent)
	}
	if metadata := sent.Get("metadata"); !metadata.Get("creationTimestamp").IsAbsent() { // which no client writes
		sent = sent.With("metadata", metadata.With("creationTimestamp", value.Value{}))
	}
	if w := k.gated(); len(w) > 0 { // what was dropped of object must not come back
		kept := w.find(object)
		sent = w.drop(sent, slices.DeleteFunc(w.find(sent), func(name string) bool { return slices.Contains(kept, name) }))
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

// withEmptyRequests returns a pod whose containers have empty requests if they have empty limits and no requests: requests get the limits
// as their defaults.
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

// emptyCounts are the lists that get their defaults only if they are absent: the rules of defaults.txt with :=. What is stored is read without
// empty lists, so that the default has already replaced an empty one.
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

// KeepsMetadata reports whether an update through a subresource, or through the main endpoint if that is empty, keeps a member of the live
// object's metadata and ignores what was sent. The members are the uid and those of a pending deletion.
//
// An endpoint that resets metadata keeps the deletion timestamp. Only the status endpoints of priority and fairness keep the other members:
// elsewhere validation refuses a change of them. The endpoints for containers of a pod reset metadata, although their managers own it.
func (k *Kind) KeepsMetadata(subresource, member string) bool {
	if k = k.known(); k.GVK.Kind == "Pod" && (subresource == "ephemeralcontainers" || subresource == "resize") {
		return member == "deletionTimestamp"
	}
	for path := range k.reset[subresource].Exclude.All() {
		switch {
		case path[0].Name() != "metadata":
		case len(path) > 1 && path[1].Name() == member:
			return true
		case len(path) == 1 && (member == "deletionTimestamp" || k.GVK.Group == flowGroup):
			return true
		}
	}
	return false
}

// flowGroup is the group of priority and fairness, whose status endpoints write no metadata.
const flowGroup = "flowcontrol.apiserver.k8s.io"

// createKeeps reports whether a create keeps what path leads to, although updates do not write it. A create keeps everything but the status,
// and of a Node, which kubelets create, the status as well. Of the status of a Pod, preparedPod takes the class.
func (k *Kind) createKeeps(path fieldpath.Path) bool {
	return path[0].Name() != "status" || k.GVK.Kind == "Node" || k.keepsServiceClass()
}

// judges reports whether the server validates what a subresource writes to path, and does not restore it: who writes it does not own it.
func (k *Kind) judges(subresource string, path fieldpath.Path) bool {
	return k.GVK.Kind == signingRequest && subresource == "status" && len(path) == 2 && path[1].Name() == "conditions"
}

// counted returns object with its generation, given what is stored of it. Writing a status counts as no change.
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

// keepIdentity carries over what a server writes into metadata itself. A created object has none of it.
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

// restore gives what path leads to from object the value that it has in live, or none. See keepMetadata for metadata.
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

// keepMetadata returns metadata as it was, but for the revision, and for the prefix of generated names if freePrefix is set.
func keepMetadata(was, metadata value.Value, freePrefix bool) value.Value {
	if v := metadata.Get("resourceVersion"); !v.IsAbsent() {
		was = was.With("resourceVersion", v)
	}
	if freePrefix {
		was = was.With("generateName", metadata.Get("generateName"))
	}
	return was
}

// generations has the kinds whose objects count how often what the paths lead to was changed. Every other kind
// keeps the number that a client created it with.
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

// createdUncounted are kinds that count changes only, and begin with what the client says.
var createdUncounted = map[schema.GVK]bool{{Group: "storage.k8s.io", Kind: "CSIDriver"}: true}

// countedSince has, of kinds that do not count in all releases, the first one in which they do.
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

// countsUnprepared reports whether the kind counts what a client sends, and not only what is stored of it: the topology of endpoints, and
// fields of gates that are off.
func (k *Kind) countsUnprepared() bool {
	return k.GVK.Kind == "EndpointSlice" || k.GVK.Kind == "ResourceSlice"
}

// countsEmpty are kinds for which an empty list is not the same as none, which is what is stored instead of it.
var countsEmpty = map[schema.GVK]bool{
	{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}:   true,
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}: true,
	{Group: "networking.k8s.io", Kind: "NetworkPolicy"}:                             true,
}

// sendsEmpty reports whether an empty list or map that the kind counts is in sent, from which stored was made, and has no default there.
func (k *Kind) sendsEmpty(sent, stored value.Value) bool {
	kind := schema.GVK{Group: k.GVK.Group, Kind: k.GVK.Kind}
	if !countsEmpty[kind] {
		return false
	}
	part := generations[kind][0][0]
	return k.Form().Member(part).Unlike(sent.Get(part), stored.Get(part))
}

// changed reports whether what one of the paths leads to is not the same in two objects, as they are stored.
func (k *Kind) changed(live, stored value.Value, paths [][]string) bool {
	if !k.hub {
		hub, _ := Lookup(schema.ParseGVK(k.Hub, k.GVK.Kind))
		converted, err := k.Convert(live, hub)
		if err != nil {
			return true // live is no object of the kind
		}
		live = converted
		if stored, err = k.Convert(stored, hub); err != nil {
			return true // cannot be: it was converted before
		}
	}
	for _, path := range paths {
		if !stored.Get(path...).Equal(live.Get(path...)) {
			return true
		}
	}
	return false
}
