package builtin

import (
	"slices"
	"time"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// prepared has the rules of single kinds, by group and kind. A rule changes an object that a client writes through a subresource, or
// through the main endpoint if that is empty.
var prepared = map[schema.GVK]func(k *Kind, subresource string, live, object value.Value) value.Value{
	{Kind: "Namespace"}:             preparedNamespace,
	{Kind: "Node"}:                  preparedNode,
	{Kind: "PersistentVolume"}:      preparedVolume,
	{Kind: "PersistentVolumeClaim"}: preparedClaim,
	{Kind: "Pod"}:                   preparedPod,
	{Kind: "Service"}:               preparedService,
	{Kind: "ServiceAccount"}:        preparedAccount,
	{Group: "apiregistration.k8s.io", Kind: "APIService"}:   preparedAPIService,
	{Group: "apps", Kind: "DaemonSet"}:                      preparedDaemonSet,
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}: preparedScaler,
	{Group: "certificates.k8s.io", Kind: signingRequest}:    preparedSigning,
	{Group: "discovery.k8s.io", Kind: "EndpointSlice"}:      preparedEndpoints,
	{Group: "resource.k8s.io", Kind: "DeviceTaintRule"}:     preparedTaintRule,
	{Group: "resource.k8s.io", Kind: "ResourceClaim"}:       preparedDevices,
}

// preparedNamespace makes a new namespace active and adds the finalizer of Kubernetes. An update keeps the finalizers.
func preparedNamespace(k *Kind, subresource string, live, namespace value.Value) value.Value {
	spec := namespace.Get("spec")
	switch {
	case subresource != "":
		return namespace
	case !live.IsAbsent():
		return namespace.With("spec", spec.With("finalizers", live.Get("spec", "finalizers")))
	}
	namespace = namespace.With("status", object(member("phase", value.String("Active"))))
	var finalizers []value.Value
	for f := range spec.Get("finalizers").Items() {
		if finalizers = append(finalizers, f); f.Str() == "kubernetes" {
			return namespace
		}
	}
	return namespace.With("spec", spec.With("finalizers", value.List(append(finalizers, value.String("kubernetes"))...)))
}

// nodeGates are the members of a node's status that came with a gate, each with the first release in which the gate is on. Earlier releases
// drop the member in one way of writing a status only: the creation of a node, or an update through the status subresource.
var nodeGates = []struct {
	since   string
	created bool // whether the creation drops it
	path    []string
}{
	{"v1.37", false, []string{"status", "nodeInfo", "runningInUserNamespace"}},
	{"v1.36", true, []string{"status", "declaredFeatures"}},
	{"v1.33", true, []string{"status", "features"}},
}

// preparedNode drops the members that the release does not store.
func preparedNode(k *Kind, subresource string, live, node value.Value) value.Value {
	for _, g := range nodeGates {
		written := g.created && live.IsAbsent() || !g.created && subresource == "status" && isNothing(live.Get(g.path...))
		if written && k.Minor() < minorOf(g.since) && !node.Get(g.path...).IsAbsent() {
			node = withAt(node, g.path, value.Value{})
		}
	}
	return node
}

// preparedVolume makes a new volume pending, and records the time of the last phase transition.
func preparedVolume(k *Kind, subresource string, live, volume value.Value) value.Value {
	now := value.String(k.clock()().UTC().Format(time.RFC3339))
	if live.IsAbsent() {
		status := object(member("phase", value.String("Pending")), member("lastPhaseTransitionTime", now))
		return volume.With("status", status)
	}
	if subresource != "status" {
		return volume
	}
	const since = "lastPhaseTransitionTime"
	status, was := volume.Get("status"), live.Get("status")
	switch same := status.Get("phase").Equal(was.Get("phase")); {
	case same && status.Get(since).IsAbsent():
		return volume.With("status", status.With(since, was.Get(since)))
	case !same && (status.Get(since).IsAbsent() || status.Get(since).Equal(was.Get(since))):
		return volume.With("status", status.With(since, now))
	}
	return volume
}

// preparedScaler restores annotations of autoscaling/v1 that hold parts of the status, or of the spec, if the endpoint does not write that
// part. The server restores these parts as fields.
func preparedScaler(k *Kind, subresource string, live, scaler value.Value) value.Value {
	if k.GVK.Version != "v1" {
		return scaler
	}
	names := []string{scalerCurrentMetrics, scalerConditions}
	if subresource == "status" {
		names = []string{scalerMetrics, scalerBehavior}
	}
	for _, name := range names {
		scaler = annotated(scaler, name, live.Get("metadata", "annotations", name).Str())
	}
	return scaler
}

// preparedClaim sets both fields for the source of a claim: dataSource, which may name a claim or a snapshot only, and dataSourceRef. If
// the live claim has no source, it drops any other source in dataSource, and a source in another namespace.
func preparedClaim(_ *Kind, subresource string, live, claim value.Value) value.Value {
	spec := claim.Get("spec")
	old, source := spec.Get("dataSource"), spec.Get("dataSourceRef")
	if subresource != "" || isNothing(old) && isNothing(source) {
		return claim
	}
	was := live.Get("spec")
	if source.Get("namespace").Str() != "" && isNothing(was.Get("dataSourceRef")) {
		source = value.Value{}
	}
	if isNothing(was.Get("dataSource")) && isNothing(was.Get("dataSourceRef")) && isNothing(source) && !isOldSource(old) {
		old = value.Value{}
	}
	switch {
	case isNothing(source) && !isNothing(old):
		source = old
	case isNothing(old) && !isNothing(source) && source.Get("namespace").Str() == "":
		old = source.With("namespace", value.Value{})
	}
	return claim.With("spec", spec.With("dataSource", old).With("dataSourceRef", source))
}

// isOldSource reports whether the source of a claim is a claim or a snapshot.
func isOldSource(source value.Value) bool {
	switch group, kind := source.Get("apiGroup").Str(), source.Get("kind").Str(); group {
	case "":
		return kind == "PersistentVolumeClaim"
	case "snapshot.storage.k8s.io":
		return kind == "VolumeSnapshot"
	}
	return false
}

// preparedEndpoints drops the topology of endpoints, which v1 shows but does not write. The topology's host name, once the name of the
// node, moves to nodeName if an endpoint of live had it.
func preparedEndpoints(_ *Kind, _ string, live, slice value.Value) value.Value {
	const topology, host = "deprecatedTopology", "kubernetes.io/hostname"
	if slice.Get("endpoints").Equal(live.Get("endpoints")) {
		return slice
	}
	return eachItem(slice, func(endpoint value.Value) value.Value {
		name := endpoint.Get(topology, host)
		for was := range live.Get("endpoints").Items() {
			if name.Str() != "" && isNothing(endpoint.Get("nodeName")) && name.Equal(was.Get(topology, host)) {
				endpoint = endpoint.With("nodeName", name)
			}
		}
		return endpoint.With(topology, value.Value{})
	}, "endpoints")
}

// preparedAccount drops all members but the name of an account's secrets. The secrets are in the namespace of the account.
func preparedAccount(_ *Kind, _ string, _, account value.Value) value.Value {
	return eachItem(account, func(secret value.Value) value.Value {
		if secret.Len() == 1 && !secret.Get("name").IsAbsent() {
			return secret
		}
		return object(member("name", secret.Get("name")))
	}, "secrets")
}

// preparedDaemonSet counts the changes of the template, from 1.
func preparedDaemonSet(k *Kind, subresource string, live, set value.Value) value.Value {
	const name = "deprecated.daemonset.template.generation"
	switch {
	case subresource != "":
		return annotated(set, name, value.Int(templateCount(live)).String())
	case live.IsAbsent():
		if n := templateCount(set); n < 1 {
			return annotated(set, name, "1")
		}
		return set
	}
	n := templateCount(live)
	if stored, err := k.Stored(set); err == nil && k.changed(live, stored, [][]string{{"spec", "template"}}) {
		n++
	}
	return annotated(set, name, value.Int(n).String())
}

// preparedTaintRule sets the time of a taint whose effect changes.
func preparedTaintRule(k *Kind, subresource string, live, rule value.Value) value.Value {
	if subresource != "" || live.IsAbsent() {
		return rule
	}
	taint, was := rule.Get("spec", "taint"), live.Get("spec", "taint")
	if taint.Get("effect").Equal(was.Get("effect")) || !taint.Get("timeAdded").Equal(was.Get("timeAdded")) {
		return rule
	}
	return within(rule, func(taint value.Value) value.Value {
		return taint.With("timeAdded", value.String(k.clock()().UTC().Format(time.RFC3339)))
	}, "spec", "taint")
}

// signingRequest is the kind of requests for certificates.
const signingRequest = "CertificateSigningRequest"

// preparedSigning fills in the times of the conditions of a request for a certificate. A write of the status keeps the conditions that
// approve or deny the request, unless it adds or removes one.
func preparedSigning(k *Kind, subresource string, live, request value.Value) value.Value {
	conditions := slices.Collect(request.Get("status", "conditions").Items())
	if len(conditions) == 0 || subresource != "status" && subresource != "approval" {
		return request
	}
	was := slices.Collect(live.Get("status", "conditions").Items())
	if subresource == "status" {
		keepConditions(conditions, was, "Approved")
		keepConditions(conditions, was, "Denied")
	}
	now := value.String(k.clock()().UTC().Format(time.RFC3339))
	for i, c := range conditions {
		if isNothing(c.Get("lastUpdateTime")) {
			c = c.With("lastUpdateTime", now)
		}
		if isNothing(c.Get("lastTransitionTime")) {
			c = c.With("lastTransitionTime", transitionOf(c, was, now))
		}
		conditions[i] = c
	}
	return request.With("status", request.Get("status").With("conditions", value.List(conditions...)))
}

// keepConditions replaces the conditions of a type by those in was, if both have the same number.
func keepConditions(conditions, was []value.Value, typ string) {
	of := func(list []value.Value) (at []int) {
		for i, c := range list {
			if c.Get("type").Str() == typ {
				at = append(at, i)
			}
		}
		return at
	}
	to, from := of(conditions), of(was)
	if len(to) != len(from) {
		return
	}
	for i := range to {
		conditions[to[i]] = was[from[i]]
	}
}

// transitionOf returns the time when a condition took its status: the time in was, or now if the status differs there.
func transitionOf(condition value.Value, was []value.Value, now value.Value) value.Value {
	for _, c := range was {
		since := c.Get("lastTransitionTime")
		if c.Get("type").Equal(condition.Get("type")) && c.Get("status").Equal(condition.Get("status")) && !isNothing(since) {
			return since
		}
	}
	return now
}

// preparedAPIService marks a new APIService without a service as available: the server itself serves its version.
func preparedAPIService(k *Kind, _ string, live, service value.Value) value.Value {
	if !live.IsAbsent() || !isNothing(service.Get("spec", "service")) {
		return service
	}
	return service.With("status", object(member("conditions", value.List(object(
		member("type", value.String("Available")), member("status", value.String("True")),
		member("lastTransitionTime", value.String(k.clock()().UTC().Format(time.RFC3339))),
		member("reason", value.String("Local")), member("message", value.String("Local APIServices are always available")),
	)))))
}

// preparedDevices drops the status of devices that a claim no longer has.
func preparedDevices(_ *Kind, subresource string, live, claim value.Value) value.Value {
	if subresource != "status" {
		return claim
	}
	status := claim.Get("status")
	left := map[[4]string]bool{}
	for result := range live.Get("status", "allocation", "devices", "results").Items() {
		left[deviceID(result)] = true
	}
	for result := range status.Get("allocation", "devices", "results").Items() {
		delete(left, deviceID(result))
	}
	devices := slices.Collect(status.Get("devices").Items())
	kept := slices.DeleteFunc(slices.Clone(devices), func(device value.Value) bool { return left[deviceID(device)] })
	switch {
	case len(kept) == len(devices):
		return claim
	case len(kept) == 0:
		return claim.With("status", status.With("devices", value.Value{}))
	}
	return claim.With("status", status.With("devices", value.List(kept...)))
}

// deviceID returns the identity of a device, or of a share of a device, in a claim.
func deviceID(v value.Value) [4]string {
	return [4]string{v.Get("driver").Str(), v.Get("pool").Str(), v.Get("device").Str(), v.Get("shareID").Str()}
}
