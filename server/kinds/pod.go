package kinds

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
)

// Pods and templates of pods. The spec itself is validated in podspec.go and containers.go. This file has what concerns a pod as an object,
// the templates of workloads, what Tables show of a pod, and what admission adds.

// validatePod refuses a Pod.
//
// An update is validated as a whole first, so it reports what is wrong with the new spec, and then what must not have changed.
func validatePod(r *report, object place, live value.Value) {
	spec := object.at("spec")
	podSpec(r, spec, true, object.Get("metadata", "name").Str())
	if isSet(live) {
		r.podChange(spec, live.Get("spec"))
		return
	}
	if later := spec.at("ephemeralContainers"); later.Len() > 0 {
		r.forbidden(later, "cannot be set on create")
	}
	if node := spec.at("nodeName"); node.Str() != "" && spec.Get("schedulingGates").Len() > 0 {
		r.forbidden(node, "cannot be set until all schedulingGates have been cleared")
	}
}

// podChange refuses all changes of a pod but of images, of its deadline, and of what keeps it from nodes.
//
// The rules that concern one field come first, and some of them end the check. Then the fields that may change are set back, and what still
// differs is shown as a difference.
func (r *report) podChange(spec place, was value.Value) {
	for _, list := range [...]string{"containers", "initContainers"} {
		if p := spec.at(list); !r.sameContainers(p, was.Get(list)) {
			return
		}
	}
	if !r.deadlineChange(spec.at("activeDeadlineSeconds"), was.Get("activeDeadlineSeconds")) {
		return
	}
	r.tolerationsChange(spec.at("tolerations"), was.Get("tolerations"))
	r.gatesChange(spec.at("schedulingGates"), was.Get("schedulingGates"))
	if r.same(spec, was) {
		return
	}
	if was.Get("schedulingGates").Len() > 0 {
		r.placement(spec, was)
	}
	if is := unchangeable(spec.Value, was); !r.same(spec.with(is), was) {
		r.forbidden(spec, mayChange+r.change("spec", was, is))
	}
}

// mayChange is what is said of another change.
const mayChange = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`," +
	"`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations)," +
	"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n"

// sameContainers refuses another number of containers, and reports whether there is the same.
//
// The image of each container must be there, and may be another one.
func (r *report) sameContainers(p place, was value.Value) bool {
	if p.Len() != was.Len() {
		r.forbidden(p, "pod updates may not add or remove containers")
		return false
	}
	for i := range p.indexes() {
		c := p.item(i)
		image := c.at("image")
		r.present(image)
		if strings.TrimSpace(image.Str()) != image.Str() {
			r.invalid(image, "must not have leading or trailing whitespace")
		}
	}
	return true
}

// deadlineChange refuses a later deadline, and reports whether the rest is looked at.
//
// A deadline may come, and become earlier. It must neither go nor become later.
func (r *report) deadlineChange(p place, was value.Value) bool {
	switch {
	case !p.is() && isSet(was):
		r.invalidAs(p, nil, "must not update from a positive integer to nil value")
	case !p.is():
	case p.Int() < 0 || p.Int() > math.MaxInt32:
		r.invalid(p, validation.InclusiveRangeError(0, math.MaxInt32))
		return false
	case isSet(was) && was.Int() < p.Int():
		r.invalid(p, "must be less than or equal to previous value")
		return false
	}
	return true
}

// tolerationsChange refuses to take tolerations away.
//
// Two tolerations are the same if they differ in their duration alone. New ones may be added.
func (r *report) tolerationsChange(p place, was value.Value) {
	if same(p.Value, was) {
		return
	}
	has := map[string]bool{}
	for t := range p.Items() {
		has[t.With("tolerationSeconds", value.Value{}).String()] = true
	}
	for t := range was.Items() {
		if !has[t.With("tolerationSeconds", value.Value{}).String()] {
			r.forbidden(p, "existing toleration can not be modified except its tolerationSeconds")
			return
		}
	}
	compares := func(t value.Value) bool { return t.Get("operator").Str() == "Lt" || t.Get("operator").Str() == "Gt" }
	r.tolerations(p, slices.ContainsFunc(slices.Collect(was.Items()), compares))
}

// gatesChange refuses new gates.
func (r *report) gatesChange(p place, was value.Value) {
	var had names
	for gate := range was.Items() {
		had.add(gate.Get("name").Str())
	}
	for i := range p.indexes() {
		gate := p.item(i)
		if name := gate.at("name"); !had.has(name.Str()) {
			r.add(field.Forbidden(name.path(), fmt.Sprintf("only deletion is allowed, but found new scheduling gate '%s'", name.Str())))
		}
	}
}

// unchangeable returns the spec of a pod with what may change as it was.
//
// Containers must be as many as before: see sameContainers. A pod that the scheduler may not place yet may also change where it can run.
func unchangeable(spec, was value.Value) value.Value {
	for _, list := range [...]string{"containers", "initContainers"} {
		containers := make([]value.Value, 0, was.Get(list).Len())
		for i := range was.Get(list).Len() {
			containers = append(containers, spec.Get(list).Item(i).With("image", was.Get(list).Item(i).Get("image")))
		}
		if len(containers) > 0 {
			spec = spec.With(list, value.List(containers...))
		}
	}
	names := []string{"activeDeadlineSeconds", "schedulingGates", "tolerations"}
	if was.Get("terminationGracePeriodSeconds").Int() < 0 && spec.Get("terminationGracePeriodSeconds").Int() == 1 {
		names = append(names, "terminationGracePeriodSeconds")
	}
	gated := was.Get("schedulingGates").Len() > 0
	if gated {
		names = append(names, "nodeSelector") // which has rules of its own there
	}
	for _, name := range names {
		spec = spec.With(name, was.Get(name))
	}
	if nodes := was.Get("affinity", "nodeAffinity"); gated && !same(spec.Get("affinity", "nodeAffinity"), nodes) {
		affinity := with(spec.Get("affinity"), "nodeAffinity", nodes)
		if affinity.Len() == 0 && !isSet(was.Get("affinity")) {
			affinity = value.Value{}
		}
		spec = spec.With("affinity", affinity)
	}
	return spec
}

// template refuses what pods are made of.
//
// A template has no name, so the rules about the name of a pod do not apply.
func (r *report) template(p place) {
	metadata := p.Get("metadata") // whose members are told as if they were those of the template
	r.labels(p.below(metadata.Get("labels"), "labels", isMember))
	r.annotations(p.below(metadata.Get("annotations"), "annotations", isMember))
	spec := p.at("spec")
	podSpec(r, spec, false, "")
	if later := spec.at("ephemeralContainers"); later.Len() > 0 {
		r.forbidden(later, "ephemeral containers not allowed in pod template")
	}
}

// annotations refuses names of annotations, and too many.
func (r *report) annotations(p place) {
	if p.Len() == 0 {
		return
	}
	all := make(map[string]string, p.Len())
	for name, text := range p.Members() {
		all[name] = text.Str()
	}
	r.errs = append(r.errs, apivalidation.ValidateAnnotations(all, p.path())...)
}

// workload refuses a selector and the template of the pods that it selects, for a kind that is called so.
//
//	selector  must be there, be valid, and select something
//	labels    of the template must be selected
//	template  must make pods that always restart
//
// A selector that is wrong ends the check with an error about all of it, because the labels cannot be compared with it.
func (r *report) workload(spec place, kind string) {
	selector, before := spec.at("selector"), len(r.errs)
	if !selector.is() {
		r.required(selector, "")
	} else {
		r.selector(selector)
	}
	wrong := selector.is() && len(r.errs) > before
	if selector.is() && !selects(selector.Value) {
		r.invalid(selector, "empty selector is invalid for "+emptySelectors[kind])
	}
	if wrong {
		r.invalid(selector, invalidSelectors[kind])
		return
	}
	template := spec.at("template")
	r.labelsSelected(template, selector.Value)
	template = withClaims(template, spec.Get("volumeClaimTemplates"))
	if of := template.Get("spec"); kind == "StatefulSet" && isSet(of) { // the controller sets both for each pod
		of = of.With("hostname", value.Value{}).With("subdomain", value.Value{})
		template = template.with(template.With("spec", of))
	}
	r.template(template)
	r.restartsAlways(template, kind)
}

// What kinds say of an empty selector, and of one that is wrong.
var (
	emptySelectors   = map[string]string{"Deployment": "deployment", "ReplicaSet": "deployment", "StatefulSet": "statefulset"}
	invalidSelectors = map[string]string{"Deployment": "invalid label selector", "ReplicaSet": "invalid label selector", "StatefulSet": ""}
)

// labelsSelected refuses labels of a template that the selector does not select: without a selector none are, with an empty one all.
func (r *report) labelsSelected(template place, selector value.Value) {
	metadata := template.at("metadata")
	labels := metadata.at("labels")
	if !isSet(selector) || selects(selector) && !selected(selector, labels.Value) {
		r.invalid(labels, "`selector` does not match template `labels`")
	}
}

// restartsAlways refuses pods that end.
func (r *report) restartsAlways(template place, kind string) {
	spec := template.at("spec")
	if policy := spec.at("restartPolicy"); policy.Str() != "Always" {
		r.onlyAmong(policy, "Always")
	}
	if deadline := spec.at("activeDeadlineSeconds"); deadline.is() {
		if kind == "Deployment" {
			kind = "ReplicaSet"
		}
		r.forbidden(deadline, "activeDeadlineSeconds in "+kind+" is not Supported")
	}
}

// withClaims returns a template with the volumes that claims become: they come first, and take the place of volumes that are called so.
//
// So a container may mount a volume that only the StatefulSet's claims define. template is a copy.
func withClaims(template place, claims value.Value) place {
	if claims.Len() == 0 {
		return template
	}
	var met names
	var volumes []value.Value
	for c := range claims.Items() {
		if name := c.Get("metadata", "name").Str(); met.add(name) {
			said := value.String(name)
			claim := value.Object(value.Member{Name: "claimName", Value: said})
			volumes = append(volumes, value.Object(value.Member{Name: "name", Value: said}, value.Member{Name: "persistentVolumeClaim", Value: claim}))
		}
	}
	spec := template.Get("spec")
	for v := range spec.Get("volumes").Items() {
		if !met.has(v.Get("name").Str()) {
			volumes = append(volumes, v)
		}
	}
	template.Value = template.With("spec", spec.With("volumes", value.List(volumes...)))
	return template
}

// podCells returns the cells of a pod. Those behind the name come from one look at its containers.
func podCells() []cell {
	return []cell{
		name, shown(func(s source) string { return s.pod().readyText() }), shown(func(s source) string { return s.pod().status }),
		shown(func(s source) string { return s.pod().restartsText(s.now) }), age, shown(podAddress), textOr(none, "spec", "nodeName"),
		textOr(none, "status", "nominatedNodeName"), shown(readinessGates),
	}
}

// podAddress shows the first address of a pod.
func podAddress(s source) string {
	for ip := range s.Get("status", "podIPs").Items() {
		return cmp.Or(ip.Get("ip").Str(), none)
	}
	return none
}

// podLook is what the containers of a pod tell about it.
//
// One row of a Table makes it once, for several cells.
type podLook struct {
	status       string
	ready, total int
	restarts     int64
	restarted    time.Time // the last time that a container ended which was started again
}

// readyText shows how many containers are ready, of all that should be.
func (l *podLook) readyText() string { return fmt.Sprintf("%d/%d", l.ready, l.total) }

// restartsText shows the restarts, and how long ago the last one was.
func (l *podLook) restartsText(now time.Time) string {
	if l.restarts == 0 || l.restarted.IsZero() {
		return strconv.FormatInt(l.restarts, 10)
	}
	return fmt.Sprintf("%d (%s ago)", l.restarts, duration.HumanDuration(now.Sub(l.restarted)))
}

// look looks at the containers of a pod.
//
//	phase, reason            unless a container says more
//	init containers          the first that is not done, as Init:…; then the others do not matter, except for pods that say
//	                         that they are initialized
//	containers               the first that waits or has ended; Completed only if none runs
//	deleted                  Terminating, or Unknown if its node is lost
//
// The order is that of kubectl's column STATUS, which kube-apiserver computes: later steps override earlier ones.
func look(pod value.Value) *podLook {
	l := &podLook{status: cmp.Or(pod.Get("status", "reason").Str(), pod.Get("status", "phase").Str())}
	for c := range pod.Get("status", "conditions").Items() {
		if c.Get("type").Str() == "PodScheduled" && c.Get("reason").Str() == "SchedulingGated" {
			l.status = "SchedulingGated"
		}
	}
	l.total = pod.Get("spec", "containers").Len()
	sidecars := map[string]bool{}
	for c := range pod.Get("spec", "initContainers").Items() {
		if c.Get("restartPolicy").Str() == "Always" {
			sidecars[c.Get("name").Str()] = true
			l.total++
		}
	}
	ofSidecars, initializing := l.initialize(pod, sidecars)
	if !initializing || hasCondition(pod, "Initialized") {
		l.restarts, l.restarted = ofSidecars.restarts, ofSidecars.restarted
		l.run(pod)
	}
	l.end(pod)
	return l
}

// count counts the restarts of a container.
//
// The time is when a container ended that was started again afterwards.
func (l *podLook) count(status value.Value) {
	l.restarts += status.Get("restartCount").Int()
	if at, ok := instant(status.Get("lastState", "terminated", "finishedAt")); ok && at.After(l.restarted) {
		l.restarted = at
	}
}

// initialize looks at init containers up to the first that is not done, and reports whether there is one. Restarts of sidecars are
// counted apart.
func (l *podLook) initialize(pod value.Value, sidecars map[string]bool) (ofSidecars podLook, initializing bool) {
	for i, status := range slices.Collect(pod.Get("status", "initContainerStatuses").Items()) {
		l.count(status)
		sidecar := sidecars[status.Get("name").Str()]
		if sidecar {
			ofSidecars.count(status)
		}
		ended, waits := status.Get("state", "terminated"), status.Get("state", "waiting", "reason").Str()
		isEnded := ended.Kind() == value.KindObject
		switch {
		case isEnded && ended.Get("exitCode").Int() == 0:
			continue
		case sidecar && status.Get("started").Bool():
			if status.Get("ready").Bool() {
				l.ready++
			}
			continue
		case isEnded:
			l.status = "Init:" + howEnded(ended)
		case waits != "" && waits != "PodInitializing":
			l.status = "Init:" + waits
		default:
			l.status = fmt.Sprintf("Init:%d/%d", i, pod.Get("spec", "initContainers").Len())
		}
		return ofSidecars, true
	}
	return ofSidecars, false
}

// howEnded returns why a container ended: its reason, its signal, or its exit code.
func howEnded(ended value.Value) string {
	switch reason, signal := ended.Get("reason").Str(), ended.Get("signal").Int(); {
	case reason != "":
		return reason
	case signal != 0:
		return fmt.Sprintf("Signal:%d", signal)
	}
	return fmt.Sprintf("ExitCode:%d", ended.Get("exitCode").Int())
}

// run looks at containers, the last first.
//
// So the first container that waits or has ended decides on the status.
func (l *podLook) run(pod value.Value) {
	running, failed := false, ""
	for _, status := range slices.Backward(slices.Collect(pod.Get("status", "containerStatuses").Items())) {
		l.count(status)
		state := status.Get("state")
		ended, waits := state.Get("terminated"), state.Get("waiting", "reason").Str()
		switch {
		case waits != "":
			l.status = waits
		case ended.Kind() == value.KindObject:
			l.status = howEnded(ended)
			if ended.Get("exitCode").Int() != 0 {
				failed = l.status
			}
		case status.Get("ready").Bool() && state.Get("running").Kind() == value.KindObject:
			running = true
			l.ready++
		}
	}
	switch {
	case l.status != "Completed":
	case running && isReady(pod):
		l.status = "Running"
	case failed != "":
		l.status = failed
	case running:
		l.status = "NotReady"
	}
}

// isReady reports whether any condition says that a pod is ready.
func isReady(pod value.Value) bool {
	for c := range pod.Get("status", "conditions").Items() {
		if c.Get("type").Str() == "Ready" && c.Get("status").Str() == "True" {
			return true
		}
	}
	return false
}

// end looks whether a pod is deleted.
func (l *podLook) end(pod value.Value) {
	phase := pod.Get("status", "phase").Str()
	switch {
	case pod.Get("metadata", "deletionTimestamp").IsAbsent():
	case pod.Get("status", "reason").Str() == "NodeLost":
		l.status = "Unknown"
	case phase != "Failed" && phase != "Succeeded":
		l.status = "Terminating"
	}
}

// readinessGates shows how many of the gates of a pod are open.
func readinessGates(s source) string {
	gates := s.Get("spec", "readinessGates")
	if gates.Len() == 0 {
		return none
	}
	open := 0
	for gate := range gates.Items() {
		if hasCondition(s.Value, gate.Get("conditionType").Str()) {
			open++
		}
	}
	return fmt.Sprintf("%d/%d", open, gates.Len())
}

// podConditions returns what the row of a pod says about it: whether it is done.
func podConditions(pod value.Value) []value.Value {
	phase := pod.Get("status", "phase")
	message := map[string]string{
		"Succeeded": "The pod has completed successfully.", "Failed": "The pod failed.",
	}[phase.Str()]
	if message == "" {
		return nil
	}
	return []value.Value{value.Object(
		value.Member{Name: "message", Value: value.String(message)},
		value.Member{Name: "reason", Value: phase},
		value.Member{Name: "status", Value: value.String("True")},
		value.Member{Name: "type", Value: value.String("Completed")},
	)}
}

// podIP returns the first address of a pod.
func podIP(pod value.Value) string {
	status := pod.Get("status")
	for ip := range status.Get("podIPs").Items() {
		return cmp.Or(status.Get("podIP").Str(), ip.Get("ip").Str())
	}
	return status.Get("podIP").Str()
}

// podGrace returns the grace period of a pod in seconds: the period of the request, else the period of the pod. It is 0 for a pod that has
// no node or has ended.
//
// A negative period of the pod is one second.
func podGrace(p value.Value, asked *int64) int64 {
	phase := p.Get("status", "phase").Str()
	if p.Get("spec", "nodeName").Str() == "" || phase == "Failed" || phase == "Succeeded" {
		return 0
	}
	if asked != nil {
		return *asked
	}
	if own := p.Get("spec", "terminationGracePeriodSeconds").Int(); own >= 0 {
		return own
	}
	return 1
}

// WithPriority returns the spec of a pod with the priority of the stored pod, unless it has one.
func WithPriority(spec, stored value.Value) value.Value {
	for _, name := range []string{"priority", "preemptionPolicy"} {
		if !isSet(spec.Get(name)) && isSet(stored.Get(name)) {
			spec = spec.With(name, stored.Get(name))
		}
	}
	return spec
}

// admitPod returns a pod with what admission plugins of every server fill in: the priority of the stored pod, absent for a new one, and
// tolerations.
func admitPod(pod, live value.Value) value.Value {
	if spec := pod.Get("spec"); spec.Kind() == value.KindObject {
		return pod.With("spec", WithTolerations(WithPriority(spec, live.Get("spec"))))
	}
	return pod
}

// failingNode lists the taints of failing nodes.
var failingNode = []string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}

// WithTolerations returns the spec of a pod with a toleration of five minutes for each taint of a failing node that it does not tolerate.
//
// They are added at the end, after the pod's own.
func WithTolerations(spec value.Value) value.Value {
	tolerations := slices.Collect(spec.Get("tolerations").Items())
	for _, taint := range failingNode {
		if !tolerates(tolerations, taint) {
			tolerations = append(tolerations, value.Object(
				value.Member{Name: "effect", Value: value.String("NoExecute")},
				value.Member{Name: "key", Value: value.String(taint)},
				value.Member{Name: "operator", Value: value.String("Exists")},
				value.Member{Name: "tolerationSeconds", Value: value.Int(300)},
			))
		}
	}
	return spec.With("tolerations", value.List(tolerations...))
}

// tolerates reports whether tolerations have one for a taint that evicts pods, of any duration.
func tolerates(tolerations []value.Value, taint string) bool {
	return slices.ContainsFunc(tolerations, func(t value.Value) bool {
		key, effect := t.Get("key").Str(), t.Get("effect").Str()
		return (key == taint || key == "") && (effect == "NoExecute" || effect == "")
	})
}
