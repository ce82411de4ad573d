package kinds

import (
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
)

// Workloads: kinds that make pods by a template. They have much in common, see report.workload, and differ in the order of errors, in how
// they replace pods, and in what must not change.

// validateDeployment refuses a Deployment.
//
// The progress deadline must leave room for pods to become ready.
func validateDeployment(r *report, object place, live value.Value) {
	spec := object.at("spec")
	r.natural(spec.at("replicas"))
	r.workload(spec, "Deployment")
	r.deploymentStrategy(spec.at("strategy"))
	r.natural(spec.at("minReadySeconds"))
	r.natural(spec.at("revisionHistoryLimit"))
	deadline := spec.at("progressDeadlineSeconds")
	r.natural(deadline)
	if deadline.is() && deadline.Int() <= spec.Get("minReadySeconds").Int() {
		r.invalid(deadline, "must be greater than minReadySeconds")
	}
	if isSet(live) {
		r.unchanged(spec.at("selector"), live.Get("spec", "selector"))
	}
}

// deploymentStrategy refuses how pods are replaced.
//
// An update that neither removes nor adds pods could not make progress. So not both numbers may be zero.
func (r *report) deploymentStrategy(p place) {
	rolling := p.at("rollingUpdate")
	switch typ := p.text("type"); typ {
	case "Recreate":
		if rolling.is() {
			r.forbidden(rolling, "may not be specified when strategy `type` is 'Recreate'")
		}
	case "RollingUpdate":
		unavailable, surge := rolling.at("maxUnavailable"), rolling.at("maxSurge")
		r.share(unavailable)
		r.share(surge)
		if amount(unavailable.Value) == 0 && amount(surge.Value) == 0 {
			r.invalid(unavailable, "may not be 0 when `maxSurge` is 0")
		}
		r.notAll(unavailable)
	default:
		r.add(field.NotSupported(p.path(), r.shown(p), []string{"Recreate", "RollingUpdate"}))
	}
}

// validateReplicaSet refuses a ReplicaSet.
func validateReplicaSet(r *report, object place, live value.Value) {
	spec := object.at("spec")
	r.natural(spec.at("replicas"))
	r.natural(spec.at("minReadySeconds"))
	r.workload(spec, "ReplicaSet")
	if isSet(live) {
		r.unchanged(spec.at("selector"), live.Get("spec", "selector"))
	}
}

// validateDaemonSet refuses a DaemonSet.
//
// Labels are compared only with a selector that is valid.
func validateDaemonSet(r *report, object place, live value.Value) {
	spec := object.at("spec")
	selector, template := spec.at("selector"), spec.at("template")
	if isSet(live) {
		r.unchanged(selector, live.Get("spec", "selector"))
	}
	before := len(r.errs)
	r.selector(selector)
	if len(r.errs) == before {
		r.labelsSelected(template, selector.Value)
	}
	if selector.is() && !selects(selector.Value) {
		r.invalid(selector, "empty selector is invalid for daemonset")
	}
	r.template(template)
	r.restartsAlways(template, "DaemonSet")
	r.natural(spec.at("minReadySeconds"))
	r.daemonStrategy(spec.at("updateStrategy"))
	r.natural(spec.at("revisionHistoryLimit"))
}

// daemonStrategy refuses how pods of nodes are replaced.
//
// Exactly one of the two numbers is not zero: a node has one pod of the set, or two for a while.
func (r *report) daemonStrategy(p place) {
	rolling := p.at("rollingUpdate")
	switch typ := p.text("type"); typ {
	case "OnDelete":
	case "RollingUpdate":
		unavailable, surge := rolling.at("maxUnavailable"), rolling.at("maxSurge")
		r.share(unavailable)
		r.share(surge)
		r.notAll(unavailable)
		r.notAll(surge)
		switch some, more := amount(unavailable.Value) != 0, amount(surge.Value) != 0; {
		case some && more:
			r.invalid(surge, "may not be set when maxUnavailable is non-zero")
		case !some && !more:
			r.required(unavailable, "cannot be 0 when maxSurge is 0")
		}
	default:
		r.add(field.NotSupported(p.path(), r.shown(p), []string{"RollingUpdate", "OnDelete"}))
	}
}

// share refuses what is neither a number of pods nor a part of all of them.
//
// "25%" is a part, 3 is a number, and "3" is neither.
func (r *report) share(p place) {
	if p.Kind() == value.KindString {
		r.invalidAs(p, intstr.FromString(p.Str()), validation.IsValidPercent(p.Str())...)
		return
	}
	r.natural(p)
}

// notAll refuses more than all pods.
func (r *report) notAll(p place) {
	if p.Kind() == value.KindString && len(validation.IsValidPercent(p.Str())) == 0 && amount(p.Value) > 100 {
		r.invalidAs(p, intstr.FromString(p.Str()), "must not be greater than 100%")
	}
}

// amount returns the number of a share, whatever it is of.
//
// It is enough to compare with zero or with 100 %. A text that is neither a valid percentage nor a number is 0.
func amount(v value.Value) int64 {
	if v.Kind() != value.KindString {
		return v.Int()
	}
	text := v.Str()
	if len(validation.IsValidPercent(text)) == 0 {
		text = strings.TrimSuffix(text, "%")
	}
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// validateStatefulSet refuses a StatefulSet.
//
// The name of the service is checked only when it is new: older ones may be invalid.
func validateStatefulSet(r *report, object place, live value.Value) {
	spec := object.at("spec")
	if policy := spec.at("podManagementPolicy"); policy.Str() != "OrderedReady" && policy.Str() != "Parallel" {
		r.invalid(policy, "must be 'OrderedReady' or 'Parallel'")
	}
	r.setStrategy(spec.at("updateStrategy"))
	if retention := spec.at("persistentVolumeClaimRetentionPolicy"); retention.is() {
		r.onlyAmong(retention.at("whenDeleted"), "Retain", "Delete")
		r.onlyAmong(retention.at("whenScaled"), "Retain", "Delete")
	}
	claims := spec.at("volumeClaimTemplates")
	for i := range claims.indexes() {
		if isSet(live) {
			break // as they may not change
		}
		claim := claims.item(i)
		r.claimSpec(claim.at("spec"), value.Value{})
	}
	r.natural(spec.at("replicas"))
	r.natural(spec.at("minReadySeconds"))
	ordinals := spec.at("ordinals")
	r.natural(ordinals.at("start"))
	if name := spec.at("serviceName"); name.Str() != "" && !isSet(live) {
		r.label(name)
	}
	r.workload(spec, "StatefulSet")
	if isSet(live) {
		r.unchanged(spec.at("selector"), live.Get("spec", "selector"))
		for _, name := range [...]string{"volumeClaimTemplates", "serviceName", "podManagementPolicy"} {
			r.unchanged(spec.at(name), live.Get("spec", name))
		}
	}
}

// setStrategy refuses how pods of a set are replaced.
//
// The error of an unknown type is Invalid here, where other kinds say NotSupported.
func (r *report) setStrategy(p place) {
	rolling := p.at("rollingUpdate")
	switch p.text("type") {
	case "":
		r.required(p, "")
	case "OnDelete":
		if rolling.is() {
			r.invalid(rolling, "only allowed for updateStrategy 'RollingUpdate'")
		}
	case "RollingUpdate":
		r.natural(rolling.at("partition"))
		if unavailable := rolling.at("maxUnavailable"); unavailable.is() {
			r.share(unavailable)
			if amount(unavailable.Value) == 0 {
				r.invalid(unavailable, "cannot be 0")
			}
			r.notAll(unavailable)
		}
	default:
		r.invalid(p, "must be 'RollingUpdate' or 'OnDelete'")
	}
}

// containers shows the names of the containers of a template of pods.
func containers(template ...string) cell { return ofContainers("name", template) }

// images shows the images of the containers of a template of pods.
func images(template ...string) cell { return ofContainers("image", template) }

// ofContainers shows a field of the containers of a template, separated by commas.
func ofContainers(field string, template []string) cell {
	return shown(func(s source) string {
		return strings.Join(namesIn(s.Get(template...).Get("spec", "containers"), field), ",")
	})
}

// readyOf shows how many replicas are ready, of how many wanted.
func readyOf(s source) string {
	return fmt.Sprintf("%d/%d", s.Get("status", "readyReplicas").Int(), s.Get("spec", "replicas").Int())
}

// bareSelector shows the selector of a Deployment, which has a way of its own to say that there is none.
func bareSelector(s source) string {
	selector, err := metav1.LabelSelectorAsSelector(labelSelector(s.Get("spec", "selector")))
	if err != nil {
		return "<invalid>"
	}
	return selector.String()
}

// controller shows whose revision it is.
func controller(s source) string {
	for owner := range s.Get("metadata", "ownerReferences").Items() {
		if !owner.Get("controller").Bool() {
			continue
		}
		gvk := kschema.FromAPIVersionAndKind(owner.Get("apiVersion").Str(), owner.Get("kind").Str())
		return strings.ToLower(gvk.GroupKind().String()) + "/" + owner.Get("name").Str()
	}
	return none
}

// shareCell shows a number of pods or a percentage.
func shareCell(path ...string) cell {
	return shown(func(s source) string {
		switch v := s.Get(path...); v.Kind() {
		case value.KindInt:
			return fmt.Sprint(v.Int())
		case value.KindString:
			return v.Str()
		}
		return "N/A"
	})
}

// validatePodTemplate refuses a PodTemplate.
func validatePodTemplate(r *report, object place, _ value.Value) { r.template(object.at("template")) }

// validateReplicationController refuses a ReplicationController.
//
// Its selector is a map of labels, without expressions.
func validateReplicationController(r *report, object place, _ value.Value) {
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

// validateRevision validates a ControllerRevision.
func validateRevision(r *report, object place, live value.Value) {
	r.natural(object.at("revision"))
	data := object.at("data")
	switch {
	case isSet(live):
		r.unchanged(data, live.Get("data"))
	case !data.is():
		r.required(data, "data is mandatory")
	case data.Kind() != value.KindObject:
		r.required(data, "data must be a valid JSON object")
	}
}

func controllerCells() []cell {
	return append(replicaCells(), containers("spec", "template"), images("spec", "template"), labelsOf("spec", "selector"))
}

func replicaSetCells() []cell {
	return append(replicaCells(), containers("spec", "template"), images("spec", "template"), selectorOf("spec", "selector"))
}

func replicaCells() []cell {
	return []cell{name, number("spec", "replicas"), number("status", "replicas"), number("status", "readyReplicas"), age}
}

func deploymentCells() []cell {
	return []cell{
		name, shown(readyOf), number("status", "updatedReplicas"), number("status", "availableReplicas"), age,
		containers("spec", "template"), images("spec", "template"), shown(bareSelector),
	}
}

func statefulSetCells() []cell {
	return []cell{name, shown(readyOf), age, containers("spec", "template"), images("spec", "template")}
}

func daemonSetCells() []cell {
	return []cell{
		name, number("status", "desiredNumberScheduled"), number("status", "currentNumberScheduled"), number("status", "numberReady"),
		number("status", "updatedNumberScheduled"), number("status", "numberAvailable"),
		labelsOf("spec", "template", "spec", "nodeSelector"), age, containers("spec", "template"), images("spec", "template"),
		selectorOf("spec", "selector"),
	}
}

// counts is a status that counts pods.
type counts struct {
	natural  []string // the numbers that may not be negative, in the order of their errors
	replicas []string // the numbers that may not exceed status.replicas
	ready    string   // what a refusal calls the ready replicas, which available ones may not exceed; "" if they may
	collides bool     // the status counts collisions, and the number of collisions may not shrink
}

// check validates the status of a workload.
func (c counts) check(r *report, object place, live value.Value) {
	status := object.at("status")
	for _, name := range c.natural {
		r.natural(status.at(name))
	}
	for _, name := range c.replicas {
		r.notAbove(status.at(name), status.Get("replicas"), "cannot be greater than status.replicas")
	}
	if c.ready != "" {
		r.notAbove(status.at("availableReplicas"), status.Get("readyReplicas"), "cannot be greater than "+c.ready)
	}
	collisions, was := status.at("collisionCount"), live.Get("status", "collisionCount")
	if c.collides && isSet(was) && (!collisions.is() || collisions.Int() < was.Int()) {
		r.invalidAs(collisions, collisions.Int(), "cannot be decremented")
	}
}

// notAbove refuses a number that is greater than another one.
func (r *report) notAbove(p place, most value.Value, detail string) {
	if p.Int() > most.Int() {
		r.invalidAs(p, p.Int(), detail)
	}
}

var (
	controllerCounts = counts{
		natural:  []string{"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration"},
		replicas: []string{"fullyLabeledReplicas", "readyReplicas", "availableReplicas"},
		ready:    "readyReplicas",
	}
	replicaSetCounts = counts{
		natural:  append(controllerCounts.natural[:5:5], "terminatingReplicas"),
		replicas: controllerCounts.replicas,
		ready:    "readyReplicas",
	}
	deploymentCounts = counts{
		natural: []string{
			"observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas", "terminatingReplicas",
			"collisionCount",
		},
		replicas: []string{"updatedReplicas", "readyReplicas", "availableReplicas"},
		ready:    "readyReplicas",
		collides: true,
	}
	statefulSetCounts = counts{
		natural: []string{
			"replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas", "observedGeneration", "collisionCount",
		},
		replicas: []string{"readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"},
		ready:    "status.readyReplicas",
		collides: true,
	}
	daemonSetCounts = counts{
		natural: []string{
			"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "observedGeneration",
			"updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount",
		},
		collides: true,
	}
	budgetCounts = counts{natural: []string{"disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"}}
)

// validateBudgetStatus validates the status of a PodDisruptionBudget.
func validateBudgetStatus(r *report, object place, live value.Value) {
	validateConditions(r, object, live)
	budgetCounts.check(r, object, live)
}
