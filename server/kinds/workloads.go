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

	"github.com/deed-project/deed/server/kinds/pods"
	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// Workloads: kinds that make pods by a template. They have much in common, see report.workload, and differ in the order of errors, in how
// they replace pods, and in what must not change.

// validateDeployment refuses a Deployment.
//
// The progress deadline must leave room for pods to become ready.
func validateDeployment(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	r.Natural(spec.At("replicas"))
	pods.ValidateWorkload(r, spec, "Deployment")
	validateDeploymentStrategy(r, spec.At("strategy"))
	r.Natural(spec.At("minReadySeconds"))
	r.Natural(spec.At("revisionHistoryLimit"))
	deadline := spec.At("progressDeadlineSeconds")
	r.Natural(deadline)
	if deadline.IsSet() && deadline.Int() <= spec.Get("minReadySeconds").Int() {
		r.Invalid(deadline, "must be greater than minReadySeconds")
	}
	if walk.IsSet(live) {
		r.Unchanged(spec.At("selector"), live.Get("spec", "selector"))
	}
}

// validateDeploymentStrategy refuses how pods are replaced.
//
// An update that neither removes nor adds pods could not make progress. So not both numbers may be zero.
func validateDeploymentStrategy(r *walk.Report, p walk.Place) {
	rolling := p.At("rollingUpdate")
	switch typ := p.Text("type"); typ {
	case "Recreate":
		if rolling.IsSet() {
			r.Forbidden(rolling, "may not be specified when strategy `type` is 'Recreate'")
		}
	case "RollingUpdate":
		unavailable, surge := rolling.At("maxUnavailable"), rolling.At("maxSurge")
		validateShare(r, unavailable)
		validateShare(r, surge)
		if amount(unavailable.Value) == 0 && amount(surge.Value) == 0 {
			r.Invalid(unavailable, "may not be 0 when `maxSurge` is 0")
		}
		notAll(r, unavailable)
	default:
		r.Add(field.NotSupported(p.Path(), r.Shown(p), []string{"Recreate", "RollingUpdate"}))
	}
}

// validateReplicaSet refuses a ReplicaSet.
func validateReplicaSet(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	r.Natural(spec.At("replicas"))
	r.Natural(spec.At("minReadySeconds"))
	pods.ValidateWorkload(r, spec, "ReplicaSet")
	if walk.IsSet(live) {
		r.Unchanged(spec.At("selector"), live.Get("spec", "selector"))
	}
}

// validateDaemonSet refuses a DaemonSet.
//
// Labels are compared only with a selector that is valid.
func validateDaemonSet(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	selector, template := spec.At("selector"), spec.At("template")
	changes := spec.Below(templateChanges(object.Value), "templateGeneration", walk.IsMember) // where the internal type has them
	if walk.IsSet(live) {
		if changes.Int() < templateChanges(live).Int() {
			r.Invalid(changes, "must not be decremented")
		}
		r.Unchanged(selector, live.Get("spec", "selector"))
	}
	before := len(r.Errs)
	r.Selector(selector)
	if len(r.Errs) == before {
		pods.ValidateLabelsSelected(r, template, selector.Value)
	}
	if selector.IsSet() && !walk.Selects(selector.Value) {
		r.Invalid(selector, "empty selector is invalid for daemonset")
	}
	pods.ValidateTemplate(r, template)
	pods.ValidateRestartsAlways(r, template, "DaemonSet")
	r.Natural(spec.At("minReadySeconds"))
	r.Natural(changes)
	validateDaemonStrategy(r, spec.At("updateStrategy"))
	r.Natural(spec.At("revisionHistoryLimit"))
}

// templateChanges returns how often the template of a DaemonSet has changed. One more than the greatest number is a number below zero.
func templateChanges(set value.Value) value.Value {
	n, _ := strconv.ParseInt(set.Get("metadata", "annotations", templateGeneration).Str(), 10, 64)
	return value.Int(n)
}

// templateGeneration is the annotation of a DaemonSet that counts the changes of its template.
const templateGeneration = "deprecated.daemonset.template.generation"

// validateDaemonStrategy refuses how pods of nodes are replaced.
//
// Exactly one of the two numbers is not zero: a node has one pod of the set, or two for a while.
func validateDaemonStrategy(r *walk.Report, p walk.Place) {
	rolling := p.At("rollingUpdate")
	switch typ := p.Text("type"); typ {
	case "OnDelete":
	case "RollingUpdate":
		unavailable, surge := rolling.At("maxUnavailable"), rolling.At("maxSurge")
		validateShare(r, unavailable)
		validateShare(r, surge)
		notAll(r, unavailable)
		notAll(r, surge)
		switch some, more := amount(unavailable.Value) != 0, amount(surge.Value) != 0; {
		case some && more:
			r.Invalid(surge, "may not be set when maxUnavailable is non-zero")
		case !some && !more:
			r.Required(unavailable, "cannot be 0 when maxSurge is 0")
		}
	default:
		r.Add(field.NotSupported(p.Path(), r.Shown(p), []string{"RollingUpdate", "OnDelete"}))
	}
}

// validateShare refuses what is neither a number of pods nor a part of all of them.
//
// "25%" is a part, 3 is a number, and "3" is neither.
func validateShare(r *walk.Report, p walk.Place) {
	if p.Kind() == value.KindString {
		r.InvalidAs(p, shareOf(p), validation.IsValidPercent(p.Str())...)
		return
	}
	r.Natural(p)
}

// shareOf returns a share as refusals show it.
func shareOf(p walk.Place) any {
	if p.Kind() == value.KindString {
		return intstr.FromString(p.Str())
	}
	return p.Int()
}

// notAll refuses more than all pods.
func notAll(r *walk.Report, p walk.Place) {
	if p.Kind() == value.KindString && len(validation.IsValidPercent(p.Str())) == 0 && amount(p.Value) > 100 {
		r.InvalidAs(p, shareOf(p), "must not be greater than 100%")
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
func validateStatefulSet(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	if policy := spec.At("podManagementPolicy"); policy.Str() != "OrderedReady" && policy.Str() != "Parallel" {
		r.Invalid(policy, "must be 'OrderedReady' or 'Parallel'")
	}
	validateSetStrategy(r, spec.At("updateStrategy"))
	if retention := spec.At("persistentVolumeClaimRetentionPolicy"); retention.IsSet() {
		r.OnlyAmong(retention.At("whenDeleted"), "Retain", "Delete")
		r.OnlyAmong(retention.At("whenScaled"), "Retain", "Delete")
	}
	claims := spec.At("volumeClaimTemplates")
	for i := range claims.Indexes() {
		if walk.IsSet(live) {
			break // as they may not change
		}
		claim := claims.Index(i)
		pods.ValidateClaimSpec(r, claim.At("spec"), value.Value{})
	}
	r.Natural(spec.At("replicas"))
	r.Natural(spec.At("minReadySeconds"))
	ordinals := spec.At("ordinals")
	r.Natural(ordinals.At("start"))
	if name := spec.At("serviceName"); name.Str() != "" && !walk.IsSet(live) {
		r.Label(name)
	}
	pods.ValidateWorkload(r, spec, "StatefulSet")
	if walk.IsSet(live) {
		r.Unchanged(spec.At("selector"), live.Get("spec", "selector"))
		for _, name := range [...]string{"volumeClaimTemplates", "serviceName", "podManagementPolicy"} {
			r.Unchanged(spec.At(name), live.Get("spec", name))
		}
	}
}

// validateSetStrategy refuses how pods of a set are replaced.
//
// The error of an unknown type is Invalid here, where other kinds say NotSupported.
func validateSetStrategy(r *walk.Report, p walk.Place) {
	rolling := p.At("rollingUpdate")
	switch p.Text("type") {
	case "":
		r.Required(p, "")
	case "OnDelete":
		if rolling.IsSet() {
			r.Invalid(rolling, "only allowed for updateStrategy 'RollingUpdate'")
		}
	case "RollingUpdate":
		r.Natural(rolling.At("partition"))
		if unavailable := rolling.At("maxUnavailable"); unavailable.IsSet() {
			validateShare(r, unavailable)
			if amount(unavailable.Value) == 0 {
				r.InvalidAs(unavailable, shareOf(unavailable), "cannot be 0")
			}
			notAll(r, unavailable)
		}
	default:
		r.Invalid(p, "must be 'RollingUpdate' or 'OnDelete'")
	}
}

// containers shows the names of the containers of a template of pods.
func containers(template ...string) cell { return ofContainers("name", template) }

// images shows the images of the containers of a template of pods.
func images(template ...string) cell { return ofContainers("image", template) }

// ofContainers shows a field of the containers of a template, separated by commas.
func ofContainers(field string, template []string) cell {
	return shown(func(s source) string {
		return strings.Join(walk.NamesIn(s.Get(template...).Get("spec", "containers"), field), ",")
	})
}

// readyOf shows how many replicas are ready, of how many wanted.
func readyOf(s source) string {
	return fmt.Sprintf("%d/%d", s.Get("status", "readyReplicas").Int(), s.Get("spec", "replicas").Int())
}

// bareSelector shows the selector of a Deployment, which has a way of its own to say that there is none.
func bareSelector(s source) string {
	selector, err := metav1.LabelSelectorAsSelector(walk.LabelSelector(s.Get("spec", "selector")))
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
func validatePodTemplate(r *walk.Report, object walk.Place, _ value.Value) {
	pods.ValidateTemplate(r, object.At("template"))
}

// validateReplicationController refuses a ReplicationController.
//
// Its selector is a map of labels, without expressions.
func validateReplicationController(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	selector, template := spec.At("selector"), spec.At("template")
	if selector.Len() == 0 {
		r.Required(selector, "")
	}
	if !template.IsSet() {
		r.Required(template, "")
	} else {
		if selector.Len() > 0 {
			pods.ValidateLabelsSelected(r, template, value.Object(value.Member{Name: "matchLabels", Value: selector.Value}))
		}
		pods.ValidateTemplate(r, template)
		pods.ValidateRestartsAlways(r, template, "ReplicationController")
	}
	validateNotConvertible(r, selector, live)
	r.Natural(spec.At("minReadySeconds"))
	r.Natural(spec.At("replicas"))
}

// validateNotConvertible refuses to change the selector of a ReplicationController that says of it, in an annotation, that it is no map of
// labels. Annotations of other fields have no meaning, and are refused.
func validateNotConvertible(r *walk.Report, selector walk.Place, live value.Value) {
	for name, text := range live.Get("metadata", "annotations").Members() {
		of, is := strings.CutPrefix(name, "non-convertible.kubernetes.io")
		_, of, named := strings.Cut(of, "/")
		switch {
		case !is || !named:
		case !strings.Contains(of, "selector"):
			r.Add(&field.Error{Type: field.ErrorTypeNotFound, BadValue: text.Str(), Field: of, Detail: "unknown non-convertible field"})
		case !walk.Same(selector.Value, live.Get("spec", "selector")):
			r.Invalid(selector, "cannot update non-convertible selector")
		}
	}
}

// validateRevision validates a ControllerRevision.
func validateRevision(r *walk.Report, object walk.Place, live value.Value) {
	r.Natural(object.At("revision"))
	data := object.At("data")
	switch {
	case walk.IsSet(live):
		r.Unchanged(data, live.Get("data"))
	case !data.IsSet():
		r.Required(data, "data is mandatory")
	case data.Kind() != value.KindObject:
		r.Required(data, "data must be a valid JSON object")
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

var (
	controllerCounts = walk.Counts{
		Natural:  []string{"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration"},
		Replicas: []string{"fullyLabeledReplicas", "readyReplicas", "availableReplicas"},
		Ready:    "readyReplicas",
	}
	replicaSetCounts = walk.Counts{
		Natural:  append(controllerCounts.Natural[:5:5], "terminatingReplicas"),
		Replicas: controllerCounts.Replicas,
		Ready:    "readyReplicas",
	}
	deploymentCounts = walk.Counts{
		Natural: []string{
			"observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas", "terminatingReplicas",
			"collisionCount",
		},
		Replicas: []string{"updatedReplicas", "readyReplicas", "availableReplicas"},
		Ready:    "readyReplicas",
		Collides: true,
	}
	statefulSetCounts = walk.Counts{
		Natural: []string{
			"replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas", "observedGeneration", "collisionCount",
		},
		Replicas: []string{"readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"},
		Ready:    "status.readyReplicas",
		Collides: true,
	}
	daemonSetCounts = walk.Counts{
		Natural: []string{
			"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "observedGeneration",
			"updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount",
		},
		Collides: true,
	}
	budgetCounts = walk.Counts{Natural: []string{"disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"}}
)

// validateBudgetStatus validates the status of a PodDisruptionBudget.
func validateBudgetStatus(r *walk.Report, object walk.Place, live value.Value) {
	walk.ValidateConditions(r, object, live)
	budgetCounts.Check(r, object, live)
}

// withoutReplicas adds that an empty object has no replicas.
func withoutReplicas(object value.Value) value.Value {
	return object.With("spec", object.Get("spec").With("replicas", value.Int(0)))
}

// checkGeneration returns an error if the annotation of a DaemonSet with the generation of its template is no number, as it is in the internal
// form.
func checkGeneration(set value.Value) error {
	generation := set.Get("metadata", "annotations", templateGeneration)
	if generation.IsAbsent() {
		return nil
	}
	_, err := strconv.ParseInt(generation.Str(), 10, 64)
	return err
}

// withGeneration adds the annotation with the generation of the template that an empty DaemonSet has.
func withGeneration(object value.Value) value.Value {
	generation := value.Member{Name: templateGeneration, Value: value.String("0")}
	return object.With("metadata", value.Object(value.Member{Name: "annotations", Value: value.Object(generation)}))
}
