package validation

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
)

// Kind is what is known of a kind.
type Kind struct {
	refuse func(r *report, object place, live value.Value)
	pods   string // a path to the spec of the pods that an object is or makes; empty if it has none
	named  string // what the name of an object is used for, if it should be a label of a domain name
	before bool   // pods are warned of as they were before a change
	bare   bool   // the metadata is looked at only where nothing else is wrong
}

// What names are used for.
const (
	ofPod  = "this is used in the Pod's hostname"
	ofPods = "this is used in Pod names and hostnames"
)

// kinds has what is known.
var kinds = map[schema.GroupKind]Kind{
	{Kind: "Endpoints"}:             {refuse: endpoints},
	{Kind: "LimitRange"}:            {refuse: limitRange},
	{Kind: "PersistentVolumeClaim"}: {refuse: claim},
	{Kind: "Pod"}:                   {refuse: pod, pods: "spec", named: ofPod},
	{Kind: "PodTemplate"}:           {refuse: podTemplate, pods: "template.spec"},
	{Kind: "ReplicationController"}: {
		refuse: replicationController, pods: "spec.template.spec", named: ofPods, before: true,
	},
	{Kind: "ResourceQuota"}:                                 {refuse: quota},
	{Kind: "Service"}:                                       {refuse: service},
	{Group: "apps", Kind: "DaemonSet"}:                      {refuse: daemonSet, pods: "spec.template.spec"},
	{Group: "apps", Kind: "Deployment"}:                     {refuse: deployment, pods: "spec.template.spec", named: ofPods},
	{Group: "apps", Kind: "ReplicaSet"}:                     {refuse: replicaSet, pods: "spec.template.spec", named: ofPods},
	{Group: "apps", Kind: "StatefulSet"}:                    {refuse: statefulSet, pods: "spec.template.spec"},
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}: {refuse: autoscaler},
	{Group: "batch", Kind: "CronJob"}:                       {refuse: cronJob, pods: "spec.jobTemplate.spec.template.spec", named: ofPods},
	{Group: "batch", Kind: "Job"}:                           {refuse: job, pods: "spec.template.spec", named: ofPods},
	{Group: "discovery.k8s.io", Kind: "EndpointSlice"}:      {refuse: endpointSlice},
	{Group: "networking.k8s.io", Kind: "Ingress"}:           {refuse: ingress},
	{Group: "networking.k8s.io", Kind: "NetworkPolicy"}:     {refuse: networkPolicy},
	{Group: "policy", Kind: "PodDisruptionBudget"}:          {refuse: budget, bare: true},
	{Group: rbacGroup, Kind: "ClusterRole"}:                 {refuse: clusterRole},
	{Group: rbacGroup, Kind: "ClusterRoleBinding"}:          {refuse: clusterRoleBinding},
	{Group: rbacGroup, Kind: "Role"}:                        {refuse: role},
	{Group: rbacGroup, Kind: "RoleBinding"}:                 {refuse: roleBinding},
}

// Of returns what is known of a kind, and whether anything is.
func Of(kind schema.GroupKind) (Kind, bool) {
	k, ok := kinds[kind]
	return k, ok
}

// IsBare reports whether the metadata of an object is looked at only where nothing else is wrong with it.
func (k Kind) IsBare() bool { return k.bare }

// Refused returns what is wrong with object, which has its defaults, in the place of live, which is absent for a new object. Once ctx has
// ended, what it returns is of no use.
func (k Kind) Refused(ctx context.Context, object, live value.Value) field.ErrorList {
	w := newWay(ctx)
	defer w.free()
	var r report
	k.refuse(&r, place{object, w, 0}, live)
	return append(r.errs, r.last...)
}

// podTemplate refuses a PodTemplate.
func podTemplate(r *report, object place, _ value.Value) { r.template(object.at("template")) }

// replicationController refuses a ReplicationController.
func replicationController(r *report, object place, _ value.Value) {
	spec := object.at("spec")
	selector, template := spec.at("selector"), spec.at("template")
	if selector.Len() == 0 {
		r.required(selector, "")
	}
	if !template.is() {
		r.required(template, "")
	} else {
		if selector.Len() > 0 {
			r.labelsSelected(template, value.Object(value.Member{Name: "matchLabels", Value: selector.Value}))
		}
		r.template(template)
		r.restartsAlways(template, "ReplicationController")
	}
	r.natural(spec.at("minReadySeconds"))
	r.natural(spec.at("replicas"))
}

// claim refuses a PersistentVolumeClaim.
func claim(r *report, object place, live value.Value) {
	spec := object.at("spec")
	r.claimSpec(spec)
	if isSet(live) {
		r.claimChange(spec, live)
		r.unchanged(object.below(spec.Get("volumeMode"), "volumeMode", isMember), live.Get("spec", "volumeMode"))
	}
}
