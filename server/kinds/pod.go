package kinds

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// Pods and templates of pods. The spec itself is validated in podspec.go and containers.go. This file has what concerns a pod as an object,
// the templates of workloads, what Tables show of a pod, and what admission adds.

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
		if !walk.IsSet(spec.Get(name)) && walk.IsSet(stored.Get(name)) {
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
